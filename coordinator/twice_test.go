package coordinator_test

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
)

// One directory, two nodes: the second is refused before it touches a file,
// and nothing that the first left behind keeps the next one out.
func TestS147ADirectoryIsOpenedByOneNodeAtATime(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, coordinator.SingleElectionTimeout, long)
	owner := f.start(1)
	dir := filepath.Join(f.dir, "node-1")
	open := func(dir string) (*coordinator.Coordinator, error) {
		return coordinator.Open(context.Background(), coordinator.Config{
			Dir: dir, Cluster: "processes", NodeID: 1, Groups: fleetGroups, ElectionTimeout: f.election, TTL: f.ttl,
		})
	}
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	inUse := func(how string) {
		t.Helper()
		for _, dir := range []string{dir, link} {
			_, err := open(dir)
			require.ErrorIs(t, err, coordinator.ErrDirectoryInUse, how)
			require.ErrorContains(t, err, dir)
		}
	}

	inUse("by another process")
	owner.ask("WaitReady", Nothing{}, &Nothing{})

	f.kill(1)
	c, err := open(dir)
	require.NoError(t, err, "the lock of a process that was killed is gone with it")
	require.NoError(t, c.WaitReady(patient(t)))
	inUse("by this process")
	require.NoError(t, c.Close())

	const racers = 8
	var opened, refused atomic.Int64
	nodes := make([]*coordinator.Coordinator, racers)
	parallel(racers, func(i int) {
		c, err := open([]string{dir, link}[i%2])
		if err == nil {
			opened.Add(1)
			nodes[i] = c
			return
		}
		if assert.ErrorIs(t, err, coordinator.ErrDirectoryInUse) {
			refused.Add(1)
		}
	})
	require.EqualValues(t, 1, opened.Load(), "of all at the same instant")
	require.EqualValues(t, racers-1, refused.Load())
	for _, c := range nodes {
		if c != nil {
			require.NoError(t, c.WaitReady(patient(t)))
			require.NoError(t, c.Close())
		}
	}
	c, err = open(link)
	require.NoError(t, err, "after Close")
	require.NoError(t, c.Close())
}
