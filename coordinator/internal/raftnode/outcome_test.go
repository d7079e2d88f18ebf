package raftnode

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lni/dragonboat/v4"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
)

// encode returns the bytes of a node's next batch.
func (p *peer) encode(group statemachine.GroupID, commands ...statemachine.Command) []byte {
	data, err := statemachine.AppendBatch(nil, p.batch(group, commands...))
	require.NoError(p.cluster.t, err)
	return data
}

// last returns the last batch of a node that p's replica has applied.
func (p *peer) last(node statemachine.NodeID) statemachine.BatchNumber {
	var last statemachine.BatchNumber
	require.NoError(p.cluster.t, p.node.View(1, func(m *statemachine.Machine) {
		presence, known := m.Presence(node)
		require.True(p.cluster.t, known)
		last = presence.Last
	}))
	return last
}

func TestOutcome(t *testing.T) {
	t.Run("WithoutALeaderIsNotApplied", func(t *testing.T) {
		c := newCluster(t, 3)
		p := c.peers[1]
		require.NoError(t, p.start())
		err := p.propose(1, p.encode(1), 10*election)
		require.ErrorIs(t, err, ErrNotApplied)
		require.ErrorIs(t, err, ErrNotReady)
		require.NotErrorIs(t, err, ErrUnknownOutcome)
	})

	t.Run("OfATooLargeProposalIsNotApplied", func(t *testing.T) {
		c := start(t, 1)
		p := c.peers[1]
		p.send(1)
		err := p.propose(1, make([]byte, logBytes), election)
		require.ErrorIs(t, err, ErrNotApplied)
		require.ErrorIs(t, err, dragonboat.ErrPayloadTooBig)
	})

	t.Run("OfATooShortTimeoutIsNotARefusal", func(t *testing.T) {
		c := start(t, 1)
		p := c.peers[1]
		p.send(1)
		err := p.propose(1, p.encode(1), -time.Second)
		require.NotErrorIs(t, err, ErrNotApplied)
	})

	t.Run("OfMoreThanTheEngineTakesIsNotApplied", func(t *testing.T) {
		c := start(t, 1)
		p := c.peers[1]
		p.send(1)
		busy := make(chan error, 1)
		data := p.encode(1)
		flooded := func() bool {
			var flood sync.WaitGroup
			for range 4 {
				flood.Add(1)
				go func() {
					defer flood.Done()
					for range 1000 {
						p.node.Propose(1, data, 10*election, func(err error) {
							if err != nil && strings.Contains(err.Error(), dragonboat.ErrSystemBusy.Error()) {
								select {
								case busy <- err:
								default:
								}
							}
						})
					}
				}()
			}
			flood.Wait()
			return len(busy) > 0
		}
		for deadline := time.Now().Add(patience); !flooded() && time.Now().Before(deadline); {
		}
		require.NotEmpty(t, busy, "the engine took all that it was given")
		err := <-busy
		require.ErrorIs(t, err, ErrNotApplied)
		require.ErrorIs(t, err, ErrNotReady)
		require.NotErrorIs(t, err, ErrUnknownOutcome)
	})

	t.Run("OfALeaderThatWasCutOffIsUnknown", func(t *testing.T) {
		c := start(t, 3, steady())
		cut := c.leader(1)
		cut.send(1)
		c.network.Isolate(c.address(cut.id))
		data := cut.encode(1)
		err := cut.propose(1, data, 3*election)
		require.ErrorIs(t, err, ErrUnknownOutcome)
		require.NotErrorIs(t, err, ErrNotApplied)
		// The same bytes again settle it, whatever became of them before.
		c.network.HealAll()
		for cut.last(cut.id) != 2 {
			if cut.propose(1, data, 2*election) != nil {
				cut.pause(1)
			}
		}
	})

	t.Run("IsUnknownThoughAppliedWhenASnapshotCoversIt", func(t *testing.T) {
		c := start(t, 3, withConfig(func(cfg *Config) { small(cfg); cfg.Election = 4 * election }))
		leader := c.leader(1)
		deaf := c.other(leader)
		deaf.send(1)
		// The follower can talk but hears nothing: its proposal reaches the
		// leader, the entry does not come back.
		for _, p := range c.peers {
			if p != deaf {
				c.network.BlackHole(c.address(p.id), c.address(deaf.id))
			}
		}
		outcome := make(chan error, 1)
		deaf.node.Propose(1, deaf.encode(1), 4*election, func(err error) { outcome <- err })
		speaker := c.leaderWithout(deaf)
		speaker.sinks[0].awaitEvent(t, statemachine.Applied{Node: deaf.id, Incarnation: 1, Number: 2})
		require.NotEqual(t, statemachine.BatchNumber(2), deaf.last(deaf.id))
		speaker.outrun(1, 200)
		require.ErrorIs(t, <-outcome, ErrUnknownOutcome)
		c.network.HealAll()
		sink := deaf.sinks[0]
		sink.await(t, "the install", func() bool { return len(sink.installed) > 1 })
		require.NotZero(t, deaf.node.Stats(1).SnapshotsInstalled)
		require.EqualValues(t, 2, deaf.last(deaf.id))
		require.False(t, sink.find(func(e statemachine.Event) bool {
			return e == statemachine.Event(statemachine.Applied{Node: deaf.id, Incarnation: 1, Number: 2})
		}), "no event comes for what the snapshot covered")
	})

	t.Run("OfWhatIsOpenAtCloseIsUnknownAndToldBeforeCloseReturns", func(t *testing.T) {
		c := start(t, 3, steady())
		cut := c.leader(1)
		cut.send(1)
		c.network.Isolate(c.address(cut.id))
		outcome := make(chan error, 1)
		cut.node.Propose(1, cut.encode(1), time.Minute, func(err error) { outcome <- err })
		require.NoError(t, cut.node.Close())
		require.Len(t, outcome, 1)
		require.ErrorIs(t, <-outcome, ErrUnknownOutcome)
	})

	t.Run("AfterCloseIsNotApplied", func(t *testing.T) {
		c := start(t, 1)
		p := c.peers[1]
		require.NoError(t, p.node.Close())
		err := p.propose(1, p.encode(1), time.Second)
		require.ErrorIs(t, err, ErrNotApplied)
		require.ErrorIs(t, err, ErrClosed)
	})
}

func TestRefusalOfTheEngine(t *testing.T) {
	for _, test := range []struct {
		engine error
		want   []error
		not    error
	}{
		{dragonboat.ErrInvalidDeadline, []error{ErrNotApplied}, ErrUnknownOutcome},
		{dragonboat.ErrDeadlineNotSet, []error{ErrNotApplied}, ErrUnknownOutcome},
		{dragonboat.ErrTimeoutTooSmall, []error{ErrNotApplied}, ErrUnknownOutcome},
		{dragonboat.ErrPayloadTooBig, []error{ErrNotApplied}, ErrUnknownOutcome},
		{dragonboat.ErrInvalidSession, []error{ErrNotApplied}, ErrUnknownOutcome},
		{dragonboat.ErrInvalidOperation, []error{ErrNotApplied}, ErrUnknownOutcome},
		{dragonboat.ErrShardNotFound, []error{ErrNotApplied}, ErrUnknownOutcome},
		{dragonboat.ErrClosed, []error{ErrNotApplied, ErrClosed}, ErrUnknownOutcome},
		{dragonboat.ErrSystemBusy, []error{ErrNotApplied, ErrNotReady}, ErrUnknownOutcome},
		{dragonboat.ErrShardNotReady, []error{ErrNotApplied, ErrNotReady}, ErrUnknownOutcome},
		{dragonboat.ErrShardClosed, []error{ErrUnknownOutcome}, ErrNotApplied},
		{dragonboat.ErrTimeout, []error{ErrUnknownOutcome}, ErrNotApplied},
		{dragonboat.ErrCanceled, []error{ErrUnknownOutcome}, ErrNotApplied},
		{dragonboat.ErrRejected, []error{ErrUnknownOutcome}, ErrNotApplied},
		{dragonboat.ErrAborted, []error{ErrUnknownOutcome}, ErrNotApplied},
		{fmt.Errorf("something new"), []error{ErrUnknownOutcome}, ErrNotApplied},
	} {
		t.Run(test.engine.Error(), func(t *testing.T) {
			err := refusal(test.engine)
			require.ErrorIs(t, err, test.engine)
			for _, want := range test.want {
				require.ErrorIs(t, err, want)
			}
			require.NotErrorIs(t, err, test.not)
		})
	}
	t.Run("AnAnswerThatIsNotKnownIsUnknown", func(t *testing.T) {
		// The zero answer of the engine is a timeout.
		require.ErrorIs(t, proposalError(dragonboat.RequestResult{}), ErrUnknownOutcome)
		require.ErrorIs(t, barrierError(dragonboat.RequestResult{}), ErrNotReady)
	})
}

func TestRead(t *testing.T) {
	t.Run("SeesWhatWasCommittedOnAnotherNode", func(t *testing.T) {
		c := start(t, 3)
		writer := c.leader(1)
		for i := range 20 {
			id := writer.acquire(1, fmt.Sprintf("key-%d", i), time.Hour)
			for _, reader := range c.peers {
				ctx, cancel := context.WithTimeout(context.Background(), patience)
				held := false
				require.NoError(t, reader.node.Read(ctx, 1, func(m *statemachine.Machine) { _, held = m.Lease(id) }))
				cancel()
				require.True(t, held)
			}
		}
	})

	t.Run("OfALeaderThatWasCutOffFailsWhenItsContextEnds", func(t *testing.T) {
		c := start(t, 3)
		cut := c.leader(1)
		cut.send(1)
		c.network.Isolate(c.address(cut.id))
		// In the first attempt, and after it.
		for _, limit := range []time.Duration{election, 4 * election} {
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			err := cut.node.Read(ctx, 1, func(*statemachine.Machine) { require.Fail(t, "it read") })
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorIs(t, err, ErrNotReady)
			require.ErrorContains(t, err, "group 1")
		}
		// It does not matter to the others, and heals.
		c.leaderWithout(cut).send(1)
		c.network.HealAll()
		cut.read(1)
	})

	t.Run("GoesOnThroughAChangeOfLeader", func(t *testing.T) {
		c := start(t, 3)
		dead := c.leader(1)
		dead.send(1)
		dead.stop()
		c.other(dead).read(1)
	})

	t.Run("WithAFinishedContextDoesNotRead", func(t *testing.T) {
		p := start(t, 1).peers[1]
		p.send(1)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		for range 100 {
			err := p.node.Read(ctx, 1, func(*statemachine.Machine) { require.Fail(t, "it read") })
			require.ErrorIs(t, err, context.Canceled)
		}
	})

	t.Run("ThatWaitsEndsWithErrClosedAtClose", func(t *testing.T) {
		c := newCluster(t, 3)
		p := c.peers[1]
		require.NoError(t, p.start()) // no quorum, so it waits for ever
		result := make(chan error, 1)
		go func() { result <- p.node.Read(context.Background(), 1, func(*statemachine.Machine) {}) }()
		require.NoError(t, p.node.Close())
		require.ErrorIs(t, <-result, ErrClosed)
		require.ErrorIs(t, p.node.Read(context.Background(), 1, nil), ErrClosed)
		require.ErrorIs(t, p.node.Transfer(1, 2), ErrClosed)
	})
}
