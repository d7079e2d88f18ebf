package raftnode

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lni/dragonboat/v4/raftpb"

	"github.com/palisade-go/palisade/statemachine"
)

// checkLog refuses an engine's directory that was never used, or lost what it
// had, when the store has applied something. It looks before anything is made
// there: the marks are, before the engine's first start.
func (n *Node) checkLog() error {
	_, err := os.Lstat(filepath.Join(n.cfg.Dir, deploymentMark))
	if !errors.Is(err, fs.ErrNotExist) {
		return nil // what else is wrong with it is found when it is opened
	}
	for _, r := range n.replicas {
		if r.counters.applied.Load() > 0 {
			return n.noLog(r)
		}
	}
	return nil
}

func (n *Node) noLog(r *replica) error {
	return fmt.Errorf("%w: group %d: %s has no log, but the node has taken part before (its store has applied up to index %d)",
		ErrTorn, r.group, n.cfg.Dir, r.counters.applied.Load())
}

// checkImage refuses an image that is older than what the engine may replay:
// the log was cut off because the store had synced what was applied, and now
// the store has not. The engine would end the process over it.
//
// It runs after the engine has read its log and before the replica lets it
// compare.
func (n *Node) checkImage(r *replica) error {
	reader, err := n.host.GetLogReader(uint64(r.group))
	if err != nil {
		return fmt.Errorf("%w: group %d: %w", ErrEngine, r.group, err)
	}
	snapshot := reader.Snapshot()
	applied := r.counters.applied.Load()
	if snapshot.OnDiskIndex <= applied {
		return nil
	}
	whole, err := snapshotIsWhole(n.cfg.Dir, snapshot)
	if err != nil {
		return fmt.Errorf("%w: group %d: %w", ErrTorn, r.group, err)
	}
	if whole {
		return nil // it came from another node and is installed again
	}
	return fmt.Errorf("%w: group %d: the store has applied up to index %d, but the log in %s begins after %d",
		ErrTorn, r.group, statemachine.Index(applied), n.cfg.Dir, snapshot.OnDiskIndex)
}

// stubBytes is the size of the stub: a header of 1,024 bytes, the 16 of no
// sessions, their checksum of 4 and a tail of 16. The state adds to that.
const stubBytes = 1024 + 16 + 4 + 16

// snapshotIsWhole reports whether the state is in the snapshot's file. The
// engine's own snapshots of a machine on disk never hold it, and it cuts
// those that it received down to a stub once they are installed and synced.
func snapshotIsWhole(dir string, snapshot raftpb.Snapshot) (bool, error) {
	if snapshot.Dummy {
		return false, nil
	}
	// The path that the engine has kept may name a former host or place. From
	// the deployment on it is that of the replicas' directory.
	path := snapshot.Filepath
	tail := filepath.Base(path)
	for range 4 {
		path = filepath.Dir(path)
		tail = filepath.Join(filepath.Base(path), tail)
	}
	info, err := os.Stat(filepath.Join(dir, replicasDir, tail))
	if err != nil {
		return false, fmt.Errorf("look at a snapshot: %w", err)
	}
	// The engine writes no size into the record of a snapshot that it received
	// as a stream. What it leaves of one that is installed is always the same.
	return info.Size() > stubBytes, nil
}
