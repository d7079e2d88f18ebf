package coordinator

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/batcher"
	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/hub"
	"github.com/palisade-go/palisade/coordinator/internal/placement"
	"github.com/palisade-go/palisade/coordinator/internal/pulse"
	"github.com/palisade-go/palisade/coordinator/internal/raftnode"
	"github.com/palisade-go/palisade/statemachine"
)

// proposer is how a group's batches reach its log: the local replica now, a
// remote node later. Propose never blocks; done is called once, with a hint.
type proposer interface {
	Propose(group statemachine.GroupID, data []byte, timeout time.Duration, done func(error))
}

// input is one thing that happened to a group, handled by its goroutine.
type input func(h *hub.Hub, now clock.Instant)

// group is the shell around one group's hub: one goroutine that feeds it and
// carries its effects out.
type group struct {
	id          statemachine.GroupID
	self        batcher.Identity
	clock       clock.Clock
	proposer    proposer
	view        func(func(*statemachine.Machine)) error // of the local replica's state
	applying    func() (since time.Time, busy bool)     // of the local replica
	unavailable func(error) error                       // what to say when there is no answer
	metrics     *metrics
	feed        *feed       // nil: nobody observes
	fatal       func(error) // called once at most, must not block
	moved       func()      // called when the replica has moved, must not block
	mail        *mailbox
	stop        chan struct{} // closed by the coordinator
	stopped     chan struct{} // closed by the goroutine at its end

	// heard is the instant that the windows of all leases here count from.
	// It moves when a batch of this node is seen applied.
	heard atomic.Int64
	// failing: the last attempt to renew has failed.
	failing atomic.Bool
	// turn is the pulse of the goroutine, which renews among other things.
	turn pulse.Pulse

	// following is the leader that the replica knows of, and a channel that
	// is closed when that changes.
	following struct {
		sync.Mutex
		leader  statemachine.NodeID
		changed chan struct{}
	}

	// candidate decides when this node tries to lead the group; nil: never. lead
	// asks for it, and fit says whether this node would be a good leader.
	candidate *placement.Candidate
	lead      func() error
	fit       func() bool

	// left is closed when the group knows that this node has gone.
	left     chan struct{}
	leftOnce sync.Once

	// The rest belongs to the goroutine.
	hub *hub.Hub
	// A request that the hub keeps is in one of them: it is a call, and turns into
	// a hold when it is granted.
	calls map[hub.Ref]*call
	holds map[hub.Ref]*hold
	marks map[hub.Ref]chan struct{}
	// answers is how many callers were told something since the last wake.
	answers int
	giveWay giveWay
	yield   func() // lets everybody go first who is ready to run
}

// neverHeard is group.heard before the first batch was seen applied: no
// window that counts from it is open.
const neverHeard = math.MinInt64 / 2

func (g *group) heardAt() clock.Instant { return clock.Instant(g.heard.Load()) }

func newGroup(id statemachine.GroupID, cfg hub.Config, clk clock.Clock, m *metrics, fatal func(error), moved func()) *group {
	g := &group{
		id: id, self: cfg.Identity, clock: clk, metrics: m, fatal: fatal, moved: moved, yield: runtime.Gosched,
		mail: newMailbox(), stop: make(chan struct{}), stopped: make(chan struct{}), left: make(chan struct{}),
		hub:   hub.New(cfg),
		calls: map[hub.Ref]*call{}, holds: map[hub.Ref]*hold{}, marks: map[hub.Ref]chan struct{}{},
	}
	g.heard.Store(neverHeard)
	g.following.changed = make(chan struct{})
	return g
}

// run is the goroutine of the group. It ends when stop is closed.
func (g *group) run() {
	defer close(g.stopped)
	timer := time.NewTimer(math.MaxInt64)
	defer timer.Stop()
	var inputs []input
	g.turn.Begin()
	for {
		now := g.clock.Now()
		g.stand(now)
		g.step((*hub.Hub).Flush, now)
		g.schedule(timer, now)
		g.turn.End()
		select {
		case <-g.stop:
			return
		case <-g.mail.wake:
			g.turn.Begin()
			g.answers = 0
			inputs = g.drain(inputs)
			if began := time.Now(); g.giveWay.due(g.answers, began) {
				// One entry has answered several callers here, and most will ask for
				// their next thing at once. They go first, so that it goes out in one
				// batch. What is not theirs to wait for, windows above all, has been
				// seen to by now.
				g.yield()
				g.giveWay.gave(g.answers, began, time.Now())
				inputs = g.drain(inputs)
			}
		case <-timer.C:
			g.turn.Begin()
		}
	}
}

// drain handles all inputs that there are. It takes them into spare. One look at
// the clock stands for all, because it is a call of the system: it comes after the
// inputs, and a pause right behind it has to do no harm in any case.
func (g *group) drain(spare []input) []input {
	inputs := g.mail.take(spare)
	now := g.clock.Now()
	for i, in := range inputs {
		g.step(in, now)
		inputs[i] = nil
	}
	return inputs
}

func (g *group) schedule(timer *time.Timer, now clock.Instant) {
	wait := time.Duration(math.MaxInt64)
	if next, ok := g.hub.Next(now); ok {
		wait = max(0, next.Sub(now))
	}
	if g.candidate != nil {
		if next, ok := g.candidate.Next(now); ok {
			wait = min(wait, max(0, next.Sub(now)))
		}
	}
	timer.Reset(wait)
}

// step handles one input and carries out what it caused. Losses come before
// the windows move, so that a lease that is lost can't look held in between.
func (g *group) step(in input, now clock.Instant) {
	in(g.hub, now)
	effects := g.hub.Effects()
	for _, e := range effects {
		if lost, ok := e.(hub.Lost); ok {
			g.lost(lost)
		}
	}
	if heard, ok := g.hub.HeardAt(); ok {
		g.heard.Store(int64(heard))
	}
	for _, e := range effects {
		g.carryOut(e, now)
	}
}

func (g *group) carryOut(e hub.Effect, now clock.Instant) {
	switch e := e.(type) {
	case hub.Send:
		g.metrics.sent(e)
		g.proposer.Propose(g.id, e.Data, e.Timeout, func(err error) {
			if err != nil {
				g.mail.put(func(h *hub.Hub, now clock.Instant) { h.AttemptFailed(e.Number, e.Attempt, now) })
			}
		})
	case hub.Granted:
		g.granted(e)
	case hub.Queued:
		if c := g.calls[e.Ref]; c != nil {
			// In this order: whoever leaves and knows of its place was observed there.
			g.waits(c, now)
			c.queued.Store(true)
		}
	case hub.Refused:
		g.refused(e)
	case hub.Unavailable:
		if c := g.calls[e.Ref]; c != nil {
			c.answer(nil, &failure{Unknown, fmt.Errorf("%w: the place in line can't be trusted any longer", ErrUnavailable)})
		}
	case hub.Over:
		g.over(e.Ref)
	case hub.Failing:
		g.metrics.renewFailures.Add(1)
		g.failing.Store(true)
		g.renewing(true)
		for _, h := range g.holds {
			h.owner.endanger()
		}
	case hub.Recovered:
		g.failing.Store(false)
		g.renewing(false)
	case hub.Reached:
		close(g.marks[e.Ref])
		delete(g.marks, e.Ref)
	case hub.Left:
		// The releases under way are confirmed by it: the group has nothing of
		// this node any more, or is about to end the rest.
		for ref := range g.calls {
			g.over(ref)
		}
		for ref := range g.holds {
			g.over(ref)
		}
		g.leftOnce.Do(func() { close(g.left) })
	case hub.Fatal:
		g.fatal(e.Err)
	}
}

// waits tells the observers that a request has its place in line.
func (g *group) waits(c *call, now clock.Instant) {
	if g.feed != nil {
		c.owner.waits(g.holders(c.claims), now)
	}
}

// renewing tells the observers how renewing goes.
func (g *group) renewing(failing bool) {
	if g.feed != nil {
		g.feed.tell(&Renewing{At: time.Now(), Group: int(g.id), Failing: failing, Leases: len(g.holds)})
	}
}

// granted turns a request into a lease. If its caller has left meanwhile,
// the caller's Cancel is on its way to this goroutine and gives it back.
func (g *group) granted(e hub.Granted) {
	c := g.calls[e.Ref]
	if c == nil {
		return
	}
	h := &hold{group: g, ref: e.Ref, token: e.Token, ttl: c.ttl, limitEnd: e.LimitEnd, owner: c.owner}
	delete(g.calls, e.Ref)
	g.holds[e.Ref] = h
	c.owner.add(h)
	if g.failing.Load() {
		c.owner.endanger() // the turn came by somebody else's entry
	}
	c.answer(h, nil)
}

func (g *group) refused(e hub.Refused) {
	if c := g.calls[e.Ref]; c != nil {
		g.metrics.refused(e.Reason)
		c.answer(nil, &failure{NotApplied, refusalError(e)})
		g.over(e.Ref)
	}
}

func (g *group) lost(e hub.Lost) {
	if h := g.holds[e.Ref]; h != nil {
		h.owner.lose(e.Reason)
	}
}

// over ends what is known here of a request: the group has nothing of it.
func (g *group) over(ref hub.Ref) {
	if c := g.calls[ref]; c != nil {
		delete(g.calls, ref)
		c.owner.closed() // the caller has its answer, or has left
	}
	if h := g.holds[ref]; h != nil {
		delete(g.holds, ref)
		g.answers++
		h.owner.closed()
	}
}

// Applied implements raftnode.Sink.
func (g *group) Applied(index statemachine.Index, events []statemachine.Event) {
	expired := 0
	for _, e := range events {
		if e, ok := e.(statemachine.Ended); ok && !e.Waiting && e.Reason == statemachine.EndExpired && e.Lease.Node == g.self.Node && e.Lease.Incarnation == g.self.Incarnation {
			expired++
		}
	}
	if expired > 0 {
		g.metrics.expiries.Add(uint64(expired))
		if g.feed != nil {
			g.feed.tell(&Expired{At: time.Now(), Group: int(g.id), Leases: expired})
		}
	}
	var began time.Time
	if g.feed != nil {
		began, _ = g.applying() // this is called by who applies
	}
	g.mail.put(func(h *hub.Hub, now clock.Instant) {
		if g.candidate != nil {
			g.candidate.Entry(events, now)
		}
		g.committed(h, events, began, now)
		h.Applied(index, events, now)
	})
	g.moved()
}

// committed tells the observers of the batches of this node that events show to be
// applied, before the hub hears of it: then they are in flight no more. began is
// when the replica began to apply them.
func (g *group) committed(h *hub.Hub, events []statemachine.Event, began time.Time, now clock.Instant) {
	if g.feed == nil {
		return
	}
	for _, e := range events {
		e, ok := e.(statemachine.Applied)
		if !ok || e.Node != g.self.Node || e.Incarnation != g.self.Incarnation {
			continue
		}
		if f, ok := h.Flight(e.Number); ok {
			at := time.Now()
			g.feed.tell(&Committed{
				At: at, Group: int(g.id), Bytes: len(f.Data), Took: now.Sub(f.FirstSend), Applying: at.Sub(began), Attempts: f.Attempt,
			})
		}
	}
}

// Installed implements raftnode.Sink.
func (g *group) Installed(s raftnode.State) {
	g.mail.put(func(h *hub.Hub, now clock.Instant) { h.Installed(hub.State(s), now) })
	g.moved()
}

// Leader implements raftnode.Sink.
func (g *group) Leader(info raftnode.LeaderInfo) {
	g.metrics.leaderChanges.Add(1)
	g.following.Lock()
	g.following.leader = info.Leader
	close(g.following.changed)
	g.following.changed = make(chan struct{})
	g.following.Unlock()
	if g.feed != nil {
		g.feed.tell(&LeaderChanged{At: time.Now(), Group: int(g.id), Leader: NodeID(info.Leader), Term: info.Term})
	}
	if info.Leader != 0 {
		g.mail.put(func(h *hub.Hub, now clock.Instant) { h.LeaderChanged(now) })
	}
	g.moved()
}

// waitFollows waits until the replica follows another node, or ctx ends.
func (g *group) waitFollows(ctx context.Context, self statemachine.NodeID) {
	for {
		g.following.Lock()
		leader, changed := g.following.leader, g.following.changed
		g.following.Unlock()
		if leader != self && leader != 0 {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// leave tells the group that this node goes.
func (g *group) leave() {
	g.mail.put(func(h *hub.Hub, now clock.Instant) { h.Leave(now) })
}

// ahead describes who is ahead of a request that has its place in line, as
// far as the local replica knows.
func (g *group) ahead(claims []statemachine.Claim) string {
	holders := g.holders(claims)
	if len(holders) == 0 {
		return "somebody is ahead"
	}
	parts := make([]string, len(holders))
	for i, h := range holders {
		parts[i] = h.String()
	}
	return strings.Join(parts, "; ")
}

// holders returns who holds the keys of claims, as far as the local replica
// knows.
func (g *group) holders(claims []statemachine.Claim) (holders []Holder) {
	// A replica that can't be looked at, because the node is closed, knows nobody.
	_ = g.view(func(m *statemachine.Machine) {
		for _, claim := range claims {
			// Not Key, which copies the queue: a thousand callers may leave a
			// long one at the same moment.
			if h, held := m.Holder(claim.Key); held {
				holders = append(holders, holderOf(h))
			}
		}
	})
	return holders
}

// mark asks for the channel to be closed once a batch sent from now on has
// been seen applied. The returned function gives the wish up.
func (g *group) mark(ref hub.Ref) (reached <-chan struct{}, giveUp func()) {
	done := make(chan struct{})
	g.mail.put(func(h *hub.Hub, now clock.Instant) {
		g.marks[ref] = done
		h.Mark(ref, now)
	})
	return done, func() {
		g.mail.put(func(h *hub.Hub, _ clock.Instant) {
			h.Unmark(ref)
			delete(g.marks, ref)
		})
	}
}
