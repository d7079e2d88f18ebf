package hub

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/batcher"
	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/keeper"
	"github.com/palisade-go/palisade/statemachine"
)

// Errors of Fatal.
var (
	// ErrSuperseded: the group knows a later incarnation of this node.
	ErrSuperseded = errors.New("a later incarnation of this node is known")
	// ErrDirectory: the group knows this node under another data directory.
	ErrDirectory = errors.New("this node is known with another data directory")
)

// Config is what a Hub needs to know of its node. NextSeq and Wall are asked
// while an input is handled; they must not block.
type Config struct {
	Identity batcher.Identity
	NextSeq  func() statemachine.Seq // node-wide, never the same twice
	Wall     func() int64            // wall clock, shown to others only
	// Attempt is how long an attempt may take at most; an eighth of the pace
	// if that is less. The shortest TTL allowed is 4*Attempt.
	Attempt time.Duration
	// Backoff is the pause after an attempt that failed at once.
	Backoff time.Duration
}

// Hub settles the requests of one node in one group.
type Hub struct {
	cfg     Config
	batcher *batcher.Batcher
	keeper  *keeper.Keeper
	byRef   map[Ref]*request
	bySeq   map[statemachine.Seq]*request
	marks   []mark
	effects []Effect

	seen    statemachine.Index // of the last event or state
	settled clock.Instant      // when a batch was last seen applied; before that, long ago
	quiet   clock.Instant      // no batch is cut before, but for a renewal
	leaving bool               // Leave was asked for
	dead    bool               // Fatal was said: nothing is sent any longer
}

// mark waits for a batch with at least that number to be seen applied.
type mark struct {
	ref    Ref
	number statemachine.BatchNumber
}

// New returns a Hub that has not announced its node yet; the first Flush does.
func New(cfg Config) *Hub {
	return &Hub{
		cfg:     cfg,
		batcher: batcher.New(cfg.Identity),
		keeper:  keeper.New(),
		byRef:   map[Ref]*request{},
		bySeq:   map[statemachine.Seq]*request{},
		settled: math.MinInt64,
	}
}

// Effects returns what the inputs since the last call have caused, in order.
func (h *Hub) Effects() []Effect {
	effects := h.effects
	h.effects = nil
	return effects
}

// HeardAt returns the instant that all windows of this group count from;
// false before the first batch was seen applied.
func (h *Hub) HeardAt() (clock.Instant, bool) { return h.keeper.HeardAt() }

// Len returns how many requests the hub keeps, those being given back too.
func (h *Hub) Len() int { return len(h.bySeq) }

// Acquire asks for a lease. One of Granted, Queued (and later Granted),
// Refused or Unavailable follows. After Leave it is Unavailable at once.
func (h *Hub) Acquire(ref Ref, ask Ask, now clock.Instant) {
	h.begin(now)
	if h.leaving {
		h.say(Unavailable{ref})
		h.say(Over{ref})
		return
	}
	r := &request{ref: ref, phase: asked, ttl: ask.TTL, ask: &ask}
	h.byRef[ref] = r
	h.number(r)
}

// Cancel withdraws a request whose caller has left, or releases what came of
// it meanwhile. Over follows.
func (h *Hub) Cancel(ref Ref, now clock.Instant) {
	h.begin(now)
	switch r := h.byRef[ref]; {
	case r == nil:
		h.say(Over{ref})
	case r.phase == asked && h.batcher.Withdraw(r.seq):
		h.over(r)
	case r.phase == asked, r.phase == queued:
		h.leave(r, cancel)
	case r.phase == held:
		h.leave(r, release)
	case r.phase == leaving:
		r.late = false
	}
}

// Release gives a lease back. Over follows, once the group has it.
func (h *Hub) Release(ref Ref, now clock.Instant) { h.Cancel(ref, now) }

// Distrust tells the hub that the lease's owner was told that its window is
// over, maybe before the hub looked at the clock itself. Over follows.
func (h *Hub) Distrust(ref Ref, now clock.Instant) {
	h.begin(now)
	if r := h.byRef[ref]; r != nil && r.phase == held {
		h.lose(r, LostWindow)
	}
}

// Mark asks for Reached once a batch that is sent from now on has been seen
// applied. It sends an empty one if nothing else waits. After Leave nothing
// follows.
func (h *Hub) Mark(ref Ref, now clock.Instant) {
	h.begin(now)
	if h.leaving {
		return
	}
	h.marks = append(h.marks, mark{ref, h.batcher.Next()})
}

// Unmark forgets a Mark whose caller has left.
func (h *Hub) Unmark(ref Ref) {
	for i, m := range h.marks {
		if m.ref == ref {
			h.marks = append(h.marks[:i], h.marks[i+1:]...)
			return
		}
	}
}

// Leave tells the group that this node goes; Left follows. All requests are
// forgotten: their callers must have been told before, because the group may
// give their keys on at once. The first of them are given back in the same
// batch, so that others need not wait for the leader's sweep.
func (h *Hub) Leave(now clock.Instant) {
	h.begin(now)
	if !h.leaving {
		h.leaving, h.quiet = true, 0
		h.batcher.DropPending()
		for _, r := range h.sorted() {
			if h.batcher.Pending() == batcher.CommandsMax-1 {
				break
			}
			h.batcher.Add(statemachine.Cancel{Seq: r.seq})
		}
		h.batcher.Add(statemachine.Leave{})
		clear(h.byRef)
		clear(h.bySeq)
		h.marks = nil
		h.keeper = keeper.New()
	}
}

// Hold keeps what waits from being sent until then, but for what goes with a
// renewal that is due. Time that has passed ends it.
func (h *Hub) Hold(until clock.Instant) { h.quiet = until }

// Settled reports whether nothing is in flight.
func (h *Hub) Settled() bool { return len(h.batcher.Flights()) == 0 }

// Flight returns the batch with a number, if it is in flight.
func (h *Hub) Flight(number statemachine.BatchNumber) (f *batcher.Flight, ok bool) {
	for _, f := range h.batcher.Flights() {
		if f.Number == number {
			return f, true
		}
	}
	return nil, false
}

// LeaderChanged makes everything unsettled go out again at once, and renews.
func (h *Hub) LeaderChanged(now clock.Instant) {
	h.begin(now)
	for _, f := range h.batcher.Flights() {
		h.attempt(f, now)
	}
	h.keeper.Hurry()
}

// AttemptFailed is the hint that an attempt came to nothing, as far as the
// engine can say.
func (h *Hub) AttemptFailed(number statemachine.BatchNumber, attempt int, now clock.Instant) {
	h.begin(now)
	if f, ok := h.Flight(number); ok && f.Attempt == attempt {
		h.failed()
		f.RetryAt = min(f.RetryAt, now.Add(h.cfg.Backoff+h.jitter(f, h.cfg.Backoff)))
	}
}

// Flush looks at the clock, and sends: what is due again, what waits, and a renewal
// when one is due. Whoever has given the hub an input calls it before it waits for
// the next one, once for all inputs that were there, so that what was asked at the
// same moment goes out in one batch. The first Flush announces the node to the
// group.
func (h *Hub) Flush(now clock.Instant) {
	h.begin(now)
	if h.dead {
		return
	}
	for _, f := range h.batcher.Flights() {
		if now >= f.RetryAt {
			h.failed()
			h.attempt(f, now)
		}
	}
	for h.batcher.Room() && h.wantsBatch(now) {
		f, err := h.batcher.Cut(now, h.cfg.Wall(), h.blind(now))
		if err != nil {
			h.fatal(fmt.Errorf("encoding a batch: %w", err))
			return
		}
		h.keeper.Sent(now)
		h.attempt(f, now)
	}
}

// Next returns when Flush is wanted next; false: only after another input.
func (h *Hub) Next(now clock.Instant) (clock.Instant, bool) {
	if h.dead {
		return 0, false
	}
	next, ok := h.keeper.Next(now)
	// While no batch can be cut, a renewal that is due is no reason to look
	// again: an answer is.
	if due, kept := h.keeper.RenewAt(); kept && h.batcher.Room() && !h.blind(now) {
		next = min(next, max(now, due))
	}
	for _, f := range h.batcher.Flights() {
		if !ok || f.RetryAt < next {
			next, ok = f.RetryAt, true
		}
	}
	if now < h.quiet && (!ok || h.quiet < next) {
		next, ok = h.quiet, true
	}
	return next, ok
}

// begin ends what is over by now, before the input counts.
func (h *Hub) begin(now clock.Instant) {
	for _, o := range h.keeper.TakeOver(now) {
		r := h.bySeq[o.Seq]
		switch {
		case r.phase == queued:
			h.say(Unavailable{r.ref})
			h.leave(r, cancel)
		case o.Reason == keeper.LimitPassed:
			h.lose(r, LostLimit)
		default:
			h.lose(r, LostWindow)
		}
	}
}

// wantsBatch reports whether a batch has to be cut now.
func (h *Hub) wantsBatch(now clock.Instant) bool {
	if h.blind(now) {
		return h.batcher.HasEnding()
	}
	if due, kept := h.keeper.RenewAt(); kept && now >= due {
		return true
	}
	return now >= h.quiet && (h.batcher.Pending() > 0 ||
		h.batcher.Next() == 1 || // the announcement
		len(h.marks) > 0 && h.marks[len(h.marks)-1].number == h.batcher.Next())
}

// blind reports whether this node has not seen its batches applied for the
// pace, although some are in flight (rule 6).
func (h *Hub) blind(now clock.Instant) bool {
	flights := h.batcher.Flights()
	if len(flights) == 0 {
		return false
	}
	pace := h.keeper.Pace()
	if pace == 0 {
		pace = 4 * h.cfg.Attempt
	}
	return now.Sub(max(h.settled, flights[0].FirstSend)) >= pace
}

// attempt sends a flight, once more or for the first time.
func (h *Hub) attempt(f *batcher.Flight, now clock.Instant) {
	if h.dead {
		return
	}
	timeout := h.cfg.Attempt
	if pace := h.keeper.Pace(); pace > 0 {
		timeout = min(timeout, pace/8)
	}
	f.Attempt++
	f.RetryAt = now.Add(timeout + h.jitter(f, timeout/4))
	h.say(Send{f.Number, f.Attempt, f.Data, timeout})
}

// failed notes a failed attempt.
func (h *Hub) failed() {
	if h.keeper.Failed() {
		h.say(Failing{})
	}
}

// jitter is below d, and the same for the same attempt in every run.
func (h *Hub) jitter(f *batcher.Flight, d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	// The finaliser of splitmix64 over what names the attempt.
	x := uint64(h.cfg.Identity.Node)<<48 ^ uint64(f.Number)<<8 ^ uint64(f.Attempt)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	return time.Duration(x % uint64(d))
}

// number gives a request a new seq and puts its Acquire in line.
func (h *Hub) number(r *request) {
	if r.seq != 0 {
		delete(h.bySeq, r.seq)
	}
	r.seq = h.cfg.NextSeq()
	r.phase = asked
	h.bySeq[r.seq] = r
	h.batcher.Add(r.ask.command(r.seq))
}

// lose tells the owner of a lease that it is no longer the owner, and gives
// back what the group may still have of it.
func (h *Hub) lose(r *request, reason LossReason) {
	h.say(Lost{r.ref, reason})
	h.leave(r, release)
}

// leave puts the command that ends a request in line.
func (h *Hub) leave(r *request, by ending) {
	h.keeper.Drop(r.seq, r.ttl)
	r.phase, r.by = leaving, by
	h.batcher.Add(r.last())
}

// late gives back what came too late to be used; the request is asked again
// after that, so that it can't meet what it has itself.
func (h *Hub) late(r *request, by ending) {
	h.leave(r, by)
	r.late = true
}

// over forgets a request of which the group has nothing left, or asks again.
func (h *Hub) over(r *request) {
	if r.late {
		r.late = false
		h.number(r)
		return
	}
	h.forget(r)
	if r.ref != 0 {
		h.say(Over{r.ref})
	}
}

func (h *Hub) forget(r *request) {
	h.keeper.Drop(r.seq, r.ttl)
	delete(h.bySeq, r.seq)
	if r.ref != 0 {
		delete(h.byRef, r.ref)
	}
	if len(h.bySeq) == 0 {
		// A map keeps the room of its largest size.
		h.byRef, h.bySeq = map[Ref]*request{}, map[statemachine.Seq]*request{}
	}
}

// disown gives back a lease or wait that no request here stands for.
func (h *Hub) disown(seq statemachine.Seq, by ending) {
	r := &request{seq: seq}
	h.bySeq[seq] = r
	h.leave(r, by)
}

func (h *Hub) fatal(err error) {
	if !h.dead {
		h.dead = true
		h.say(Fatal{err})
	}
}

func (h *Hub) say(e Effect) { h.effects = append(h.effects, e) }
