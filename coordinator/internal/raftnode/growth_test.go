package raftnode

import (
	"io/fs"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
)

// diskBytes returns how much the files in a directory hold.
func diskBytes(t *testing.T, dir string) (bytes int64) {
	require.NoError(t, filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			bytes += info.Size()
		}
		return nil // it may just have been removed
	}))
	return bytes
}

// TestTheLogOnDiskIsBounded writes many times what the log keeps. Nothing
// asks the log store to compact: its own compactions have to be enough.
func TestTheLogOnDiskIsBounded(t *testing.T) {
	c := start(t, 1, withConfig(func(cfg *Config) { cfg.SnapshotEntries = 1000 }))
	p := c.peers[1]
	p.send(1)
	repetition := statemachine.Batch{Node: 1, Incarnation: 1, Number: 1} // it changes nothing but the log
	for seq := statemachine.Seq(1); seq <= 4; seq++ {
		repetition.Commands = append(repetition.Commands, statemachine.Acquire{
			Seq: seq, Claims: []statemachine.Claim{{Key: "k", Mode: statemachine.Exclusive}}, TTL: 1,
			Metadata:  string(make([]byte, statemachine.MetadataBytesMax)),
			RequestID: string(make([]byte, statemachine.RequestIDBytesMax)),
		})
	}
	data, err := statemachine.AppendBatch(nil, repetition)
	require.NoError(t, err)
	const entries, rounds, callers = 42_000, 12, 50
	var peak int64
	for range rounds {
		var proposals sync.WaitGroup
		for range callers {
			proposals.Add(1)
			go func() {
				defer proposals.Done()
				for range entries / rounds / callers {
					result := make(chan error, 1)
					p.node.Propose(1, data, patience, func(err error) { result <- err })
					<-result
				}
			}()
		}
		proposals.Wait()
		peak = max(peak, diskBytes(t, p.raftDir()))
	}
	written := int64(entries) * int64(len(data))
	t.Logf("wrote %d MiB, at most %d MiB on disk", written>>20, peak>>20)
	require.NotZero(t, p.node.Stats(1).SnapshotsCreated)
	// Pebble keeps up to six write-ahead logs of 8 MiB, five of them to be
	// written over; the rest is tables, most of it to be compacted.
	const bound = 80 << 20
	require.Greater(t, written, int64(2*bound))
	require.Less(t, peak, int64(bound))
}
