package raftnode

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	sm "github.com/lni/dragonboat/v4/statemachine"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/internal/saidtest"
	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/statemachine/pebblestore"
)

func TestStallIsFoundOnlyWhileSomethingIsProposed(t *testing.T) {
	const bound = 10 * time.Second
	start := time.Now()
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	var s stall
	require.False(t, s.stands(at(0), false, 7, bound), "nothing proposed")
	require.False(t, s.stands(at(100), true, 7, bound), "watching begins")
	require.False(t, s.stands(at(109), false, 7, bound))
	require.True(t, s.stands(at(110), false, 7, bound))
	require.False(t, s.stands(at(119), false, 7, bound), "asked again only after another bound")
	require.True(t, s.stands(at(120), false, 7, bound))
	require.False(t, s.stands(at(121), false, 8, bound), "something was applied")
	require.False(t, s.stands(at(500), false, 8, bound), "and nothing was proposed since")
	require.False(t, s.stands(at(501), true, 8, bound))
	require.False(t, s.stands(at(509), true, 9, bound), "it moves")
	require.False(t, s.stands(at(518), true, 9, bound))
	require.True(t, s.stands(at(519), true, 9, bound))
}

// A member that is asked to lead refuses while it has an entry that it has not
// applied. So the turn that asks proposes nothing, and the next one does again.
func TestALeaderThatAsksForAnotherProposesNothingWithTheQuestion(t *testing.T) {
	store, err := pebblestore.Open("store", pebblestore.Options{FS: vfs.NewMem()})
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	cfg, now, log := aloneConfig(store, newRecorder()), &skewed{}, &saidtest.Log{}
	cfg.Clock, cfg.Logger = now, slog.New(slog.NewTextHandler(log, nil))
	cfg.Members, cfg.Groups, cfg.Election = []statemachine.NodeID{1, 2, 3}, 1, election
	n := &Node{cfg: cfg, log: cfg.Logger}
	r, err := openReplica(cfg, 1, n.retry())
	require.NoError(t, err)
	n.replicas = []*replica{r}
	n.gate.close() // nothing reaches an engine
	_, err = r.Update([]sm.Entry{acquisition(t, 1, "a")})
	require.NoError(t, err)
	r.proposer.TakeOffice(now.Now())
	o := &office{node: n, replica: r, timer: time.NewTimer(time.Hour)}
	proposed := func() uint64 { return r.counters.expireProposed.Load() }
	turn := func() {
		now.ahead(10 * time.Second)
		o.work()
	}
	asked := func() int { return strings.Count(log.String(), "another one is asked for") }

	for range 20 { // more than a lease of a minute needs
		if proposed() == 0 {
			turn()
		}
	}
	require.EqualValues(t, 1, proposed())
	require.Zero(t, asked())
	o.stall.since = o.stall.since.Add(-time.Hour)
	turn()
	require.Equal(t, 1, asked())
	require.EqualValues(t, 1, proposed(), "nothing goes along with the question")
	turn()
	require.Equal(t, 1, asked())
	require.EqualValues(t, 2, proposed())
}

// The log goes on without the leader's apply loop, so nobody elects another
// leader by himself; the dead must be let go all the same (G6).
func TestALeaderThatDoesNotApplyHandsOver(t *testing.T) {
	c := start(t, 3)
	leader := c.leader(1)
	dead := c.other(leader)
	id := dead.acquire(1, "k", 4*election)
	third := c.peers[6-leader.id-dead.id]
	stuck := leader.sinks[0]
	stuck.mu.Lock() // its Applied blocks, and the apply loop with it
	defer stuck.mu.Unlock()
	dead.send(1) // the leader's machine may see this one
	dead.send(1) // and not this one, so what it proposes names an older batch
	dead.stop()
	third.sinks[0].await(t, "the expiry", func() bool { return third.sinks[0].expired(id) })
	require.Equal(t, third.id, third.node.Leader(1).Leader)
}
