package coordinator

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/raftnode"
	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/statemachine/pebblestore"
)

func TestAFailedStartIsOneOfThePublicErrors(t *testing.T) {
	newer := fmt.Errorf("%w: %w", statemachine.ErrMalformed, statemachine.ErrNewer)
	for said, is := range map[error]error{
		raftnode.ErrInvalid:         ErrInvalid,
		raftnode.ErrLocked:          ErrDirectoryInUse,
		pebblestore.ErrInUse:        ErrDirectoryInUse,
		newer:                       ErrDirectoryFormat,
		pebblestore.ErrFormat:       ErrDirectoryFormat,
		raftnode.ErrLogStore:        ErrDirectoryFormat,
		raftnode.ErrEngineSettings:  ErrDirectoryFormat,
		statemachine.ErrMalformed:   ErrDirectoryDamaged,
		pebblestore.ErrCorrupt:      ErrDirectoryDamaged,
		raftnode.ErrDamaged:         ErrDirectoryDamaged,
		raftnode.ErrTorn:            ErrDirectoryDamaged,
		raftnode.ErrDeployment:      ErrDirectoryDamaged,
		raftnode.ErrIdentity:        ErrDirectoryDamaged,
		raftnode.ErrHostName:        raftnode.ErrHostName, // and others stay what they are
		errors.New("something new"): nil,
	} {
		err := startError("the-dir", fmt.Errorf("group 7: %w", said))
		require.ErrorIs(t, err, said)
		require.ErrorContains(t, err, "group 7")
		if is == nil {
			is = said
		}
		require.ErrorIs(t, err, is)
		for _, other := range []error{ErrInvalid, ErrDirectoryInUse, ErrDirectoryFormat, ErrDirectoryDamaged} {
			if other == is {
				require.ErrorContains(t, err, "the-dir")
				continue
			}
			require.NotErrorIs(t, err, other)
		}
	}
}
