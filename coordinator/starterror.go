package coordinator

import (
	"errors"
	"fmt"

	"github.com/palisade-go/palisade/coordinator/internal/raftnode"
	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/statemachine/pebblestore"
)

// startErrors are what the layers below say of a start that failed, as what it
// is to a user. The first that fits counts: what is newer than this binary may
// look damaged to it as well.
var startErrors = []struct{ said, is error }{
	{raftnode.ErrInvalid, ErrInvalid},
	{raftnode.ErrLocked, ErrDirectoryInUse},
	{pebblestore.ErrInUse, ErrDirectoryInUse},
	{statemachine.ErrNewer, ErrDirectoryFormat},
	{pebblestore.ErrFormat, ErrDirectoryFormat},
	{raftnode.ErrLogStore, ErrDirectoryFormat},
	{raftnode.ErrEngineSettings, ErrDirectoryFormat},
	{statemachine.ErrMalformed, ErrDirectoryDamaged},
	{pebblestore.ErrCorrupt, ErrDirectoryDamaged},
	{raftnode.ErrDamaged, ErrDirectoryDamaged},
	{raftnode.ErrTorn, ErrDirectoryDamaged},
	// The identity of the directory fits, so its parts are of different nodes.
	{raftnode.ErrDeployment, ErrDirectoryDamaged},
	{raftnode.ErrIdentity, ErrDirectoryDamaged},
}

// startError says in this package's errors why a node did not start in dir.
func startError(dir string, err error) error {
	for _, e := range startErrors {
		if errors.Is(err, e.said) {
			return fmt.Errorf("%w: %s: %w", e.is, dir, err)
		}
	}
	return err
}
