package coordinator

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/hub"
	"github.com/palisade-go/palisade/statemachine"
)

// In a program that computes on all processors, whoever yields stands behind all
// that. A group that did so for each answer would take a hundred times as long for
// all it does, its renewals too.
func TestAGroupDoesNotGiveWayWhereThatTakesLong(t *testing.T) {
	g := newGroup(1, hub.Config{
		Attempt: time.Second, Backoff: time.Second,
		NextSeq: func() statemachine.Seq { return 1 }, Wall: func() int64 { return 0 },
	}, clock.System{}, &metrics{}, nil, nil)
	g.proposer = nobody{}
	yields := 0
	g.yield = func() {
		yields++
		for began := time.Now(); time.Since(began) < 100*time.Millisecond; { // as those who compute do
		}
	}
	go g.run()
	for range 20 {
		handled := make(chan struct{})
		g.mail.put(func(*hub.Hub, clock.Instant) {
			g.answers = 2
			close(handled)
		})
		<-handled
	}
	close(g.stop)
	<-g.stopped
	require.Equal(t, 1, yields)
}

func TestAGroupGivesWayAgainAfterARest(t *testing.T) {
	at := func(d time.Duration) time.Time { return time.Unix(0, 0).Add(d) }
	const ms = time.Millisecond
	var w giveWay
	require.False(t, w.due(0, at(0)))
	require.False(t, w.due(1, at(0)), "what one caller asks for is one batch anyway")
	require.True(t, w.due(2, at(0)))

	w.gave(100, at(0), at(30*ms)) // 20 ms, and a tenth of a millisecond each
	require.True(t, w.due(2, at(30*ms)))
	w.gave(2, at(30*ms), at(60*ms))
	require.False(t, w.due(2, at(60*ms)))
	require.False(t, w.due(1000, at(3059*ms)))
	require.True(t, w.due(2, at(3060*ms)))
}

// nobody takes proposals and does nothing with them.
type nobody struct{}

func (nobody) Propose(statemachine.GroupID, []byte, time.Duration, func(error)) {}

// A refusal is an answer and the end of the request in one.
func TestACallerWhoIsRefusedIsOneCaller(t *testing.T) {
	g := newGroup(1, hub.Config{}, clock.System{}, &metrics{}, nil, nil)
	c := &call{ref: 1, group: g, owner: (&Coordinator{}).newOwnership(&request{}), out: make(chan answer, 1)}
	g.calls[c.ref] = c
	g.refused(hub.Refused{Ref: c.ref, Reason: statemachine.RefusedBusy})
	require.ErrorIs(t, (<-c.out).failure.err, ErrBusy)
	require.Equal(t, 1, g.answers)
}
