package raftnode

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lni/dragonboat/v4"

	"github.com/palisade-go/palisade/coordinator/internal/raftlog"
)

// reasons maps the texts of the engine's start-up errors to errors of this
// package. The engine keeps the errors themselves to itself.
var reasons = []struct {
	text   string
	reason error
	advice string
}{
	{"hostname changed", ErrHostChanged, "the directory was written by another program, or moved here from one"},
	{"NodeHostID changed", ErrIdentity, "each node needs its own directory"},
	{"not the owner of the data directory", ErrIdentity, "each node needs its own directory"},
	{"deployment ID changed", ErrDeployment, "the directory belongs to another cluster"},
	{"failed to lock data directory", ErrLocked, "another process uses the directory, or its lock file can't be made: the engine does not say which"},
	{"hard setting changed", ErrEngineSettings, "the directory was written by another version"},
	{"hard.go settings changed", ErrEngineSettings, "the directory was written by another version"},
	{"DefaultNodeRegistryEnabled changed", ErrEngineSettings, "the directory was written by another program"},
}

// startError translates what the engine, or the log store under it, said when it
// refused to start.
func startError(dir string, err error) error {
	var format *raftlog.FormatError
	switch {
	case errors.Is(err, dragonboat.ErrReplicaRemoved):
		return fmt.Errorf("%w: %s: %w", ErrRemoved, dir, err)
	case errors.As(err, &format):
		return fmt.Errorf("%w: %w", ErrLogStore, err) // it names the directory
	case errors.Is(err, raftlog.ErrInUse):
		return fmt.Errorf("%w: %w", ErrLocked, err)
	case errors.Is(err, raftlog.ErrCorrupt):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	text := err.Error()
	for _, r := range reasons {
		if strings.Contains(text, r.text) {
			return fmt.Errorf("%w: %s: %w (%s)", r.reason, dir, err, r.advice)
		}
	}
	return fmt.Errorf("%w: %s: %w", ErrEngine, dir, err)
}
