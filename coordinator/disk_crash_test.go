package coordinator_test

import (
	"errors"
	"net/rpc"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/internal/raftnode/disktest"
	"github.com/palisade-go/palisade/token"
)

// crashes are nodes that end in the midst of a change of their disk, again and
// again, while the cluster works.
type crashes struct {
	*fleet
	next disktest.End // of the next start
}

func newCrashes(t *testing.T) *crashes {
	c := &crashes{fleet: newFleet(t, 3, 400*time.Millisecond, 4*time.Second)}
	// Few entries between snapshots, so that logs are cut off too.
	c.change = func(s *NodeStart) {
		s.SnapshotEntries, s.Disk = 64, &DiskStart{End: c.next}
	}
	for _, number := range c.members() {
		c.start(number).ask("StartLoad", work, &Nothing{})
	}
	c.ready()
	return c
}

// crash starts a node again, on what its process has left, and lets that end
// at a change of the disk. Even an Open that the process does not survive is
// followed by one that works.
func (c *crashes) crash(number coordinator.NodeID, end disktest.End) {
	c.t.Helper()
	c.kill(number)
	c.next = end
	p, err := c.tryStart(number)
	c.next = disktest.End{}
	var refused rpc.ServerError
	require.False(c.t, errors.As(err, &refused), "%+v: Open is refused after an earlier crash: %v", end, err)
	if err == nil {
		// It may end before it is asked, or while it answers.
		_ = p.try("StartLoad", work, &Nothing{})
	}
	state, said := c.ends(number)
	require.True(c.t, wasKilled(state), "%+v: %v, and %v\n%s", end, state, err, said)
	p = c.start(number)
	p.ask("WaitReady", Nothing{}, &Nothing{})
	p.ask("StartLoad", work, &Nothing{})
	c.worked(p)
}

// hold lets a node hold a key, and returns its token.
func (c *crashes) hold(number coordinator.NodeID, key string) (got token.Token) {
	c.t.Helper()
	c.running[number].ask("Acquire", key, &got)
	return got
}

// finish checks that nothing is lost: what was held is held, and all nodes
// agree.
func (c *crashes) finish(holder coordinator.NodeID, key string, held token.Token) {
	c.t.Helper()
	for _, number := range c.members() {
		var got token.Token
		c.running[number].ask("Holder", key, &got)
		require.Equal(c.t, held, got, "in the eyes of node %d", number)
	}
	var got token.Token
	c.running[holder].ask("Held", key, &got)
	require.Equal(c.t, held, got)
	c.rest()
	for _, number := range c.members() {
		c.close(number)
	}
}

// S136: the power fails while the last record is appended to the Raft log, and
// half of it is found afterwards; or the file is longer already, with zeros or
// with what was there before. The rest is dropped at the next start, and the
// node catches up. What another node holds all the while stays.
func TestS136TornLastRecord(t *testing.T) {
	t.Parallel()
	c := newCrashes(t)
	random := newRandom(t)
	const victim, holder = 3, 1
	held := c.hold(holder, "held all the while")
	// The header of a record has 7 bytes, or 11 in a file that was used before;
	// a small batch has some hundred.
	parts := []int{0, 6, 7, 1 + random.IntN(64), 1 + random.IntN(512), 1 + random.IntN(32<<10)}
	for _, part := range parts {
		for _, rest := range []disktest.Rest{disktest.Nothing, disktest.Zeros, disktest.Garbage} {
			c.crash(victim, disktest.End{At: 1 + random.IntN(60), LogOnly: true, Part: part, Rest: rest})
		}
	}
	c.finish(holder, "held all the while", held)
}

// S134: a process ends at any change of its disk: before it, after it or in the
// midst, in the log, in the store, or between the two, while entries are
// applied, tables are written and logs are cut off. Afterwards no entry was
// applied twice or not at all: all nodes have the same state, and tokens only
// rose.
func TestS134CrashBetweenApplyingAndRecording(t *testing.T) {
	t.Parallel()
	c := newCrashes(t)
	random := newRandom(t)
	const holder = 1
	held := c.hold(holder, "held all the while")
	// The changes of a start come first, those of the work after them.
	from := 1
	for _, to := range []int{8, 16, 32, 64, 96, 128, 256, 384, 768} {
		for _, part := range []int{random.IntN(2), 1 + random.IntN(512)} {
			victim := coordinator.NodeID(2 + random.IntN(2))
			c.crash(victim, disktest.End{At: from + random.IntN(to-from), Part: part})
		}
		from = to
	}
	c.finish(holder, "held all the while", held)
}
