package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/hub"
	"github.com/palisade-go/palisade/coordinator/internal/keeper"
	"github.com/palisade-go/palisade/token"
)

// ownership is what Lease and LeaseSet have in common: the leases of one
// request in one or several groups, which end together. Its state moves one
// way only:
//
//	owned -> released    by Release
//	owned -> lost        by the clock, or by what a group says
//
// Whoever asks compares the clock with the window first, so that a lease
// whose window is over can't look owned just because no timer has run. What
// was answered once stays: the end is latched under the mutex.
type ownership struct {
	c        *Coordinator
	keys     []string
	ttl      time.Duration
	values   context.Context // of the acquire: its values count, and not its end
	observed atomic.Bool     // a channel that tells of the end was handed out

	mu sync.Mutex
	// done is given when the ownership ends; endangered when renewing first
	// fails, or at the end; gone when no group has anything left of it.
	done, endangered, gone signal
	scope                  *scope // knows no handle; nil: nobody has asked for it
	asking                 *call  // the last request to a group; nil before the first, and once handed over
	holds                  []*hold
	end                    error         // nil while owned; ErrReleased, or an error with ErrLeaseLost
	trail                  *trail        // nil: nobody observes it
	since                  clock.Instant // when it was asked for; once handed over, when that was; then when it ended
	open                   int32         // requests to groups that are not over
	handles                int32         // that were not collected
	handed                 bool          // it was handed to its caller
	forgotten              bool          // the last of the handles was collected
	given                  bool          // all has been given back
}

// newOwnership starts the ownership of a request that holds nothing yet.
func (c *Coordinator) newOwnership(r *request) *ownership {
	return &ownership{c: c, keys: r.keys, ttl: r.ttl, values: r.values, since: r.began, trail: c.newTrail(r)}
}

// context returns the context that ends with the ownership.
func (o *ownership) context() context.Context {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.scope == nil {
		ctx, cancel := context.WithCancelCause(context.WithoutCancel(o.values))
		o.scope = &scope{ctx, cancel}
		if o.end != nil {
			cancel(o.end)
		}
	}
	return o.scope.Context
}

// ended, alarm and vanished return the channels of done, endangered and gone.

func (o *ownership) ended() <-chan struct{}    { return o.channel(&o.done) }
func (o *ownership) alarm() <-chan struct{}    { return o.channel(&o.endangered) }
func (o *ownership) vanished() <-chan struct{} { return o.channel(&o.gone) }

func (o *ownership) channel(s *signal) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return s.channel()
}

// isGone reports whether no group has anything left of it.
func (o *ownership) isGone() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.gone.given()
}

// lossChannel returns the channel of the end while a part is held. While none
// is, nothing can be lost, and it is nil.
func (o *ownership) lossChannel() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.holds) == 0 && o.end == nil {
		return nil
	}
	return o.done.channel()
}

// opened counts a request to a group, before it is made.
func (o *ownership) opened(cl *call) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asking = cl
	o.open++
}

// leftBy says what a caller was waiting for whose context has ended.
func (o *ownership) leftBy(ctx context.Context) error {
	o.mu.Lock()
	cl, handed := o.asking, o.handed
	o.mu.Unlock()
	switch {
	case handed:
		return endOf(ctx) // the answer came at the same moment
	case cl == nil:
		return o.c.unavailable(endOf(ctx))
	}
	return cl.endOf(ctx)
}

// closed counts a request of which its group has nothing left. Called by the
// group's goroutine.
func (o *ownership) closed() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open--
	o.goneLocked()
}

// add takes a lease that a group has granted. Called by the group's
// goroutine, before the caller hears of it.
func (o *ownership) add(h *hold) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.holds = append(o.holds, h)
	o.trail.grantedLocked(h)
}

// hand marks the ownership as complete and in its caller's hands, unless it
// has been lost already, or the coordinator takes no more requests: Shutdown
// waits for what was in somebody's hands when it began, and for nothing else.
func (o *ownership) hand() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.c.env.Clock.Now()
	if err := o.errLocked(now); err != nil {
		return err
	}
	if err := o.c.accepts(); err != nil {
		return err
	}
	o.handed = true
	o.waitedLocked(Applied, nil, now)
	o.since = now
	return nil
}

// Err returns nil while owned. It looks at the clock.
func (o *ownership) Err() error {
	if o == nil {
		return errNil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.end != nil {
		return o.end // whatever the time is
	}
	return o.errLocked(o.c.env.Clock.Now())
}

// errLocked is Err, with the time, which was asked for under the mutex.
func (o *ownership) errLocked(now clock.Instant) error {
	if o.end != nil {
		return o.end
	}
	for _, h := range o.holds {
		if over, reason := h.isOver(now); over {
			h.distrust()
			o.loseLocked(reason, now)
		}
	}
	return o.end
}

// lose latches a loss that a group has told of.
func (o *ownership) lose(reason hub.LossReason) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.loseLocked(reason, o.c.env.Clock.Now())
}

// fail latches the loss of everything, because the node may not go on.
func (o *ownership) fail(cause error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.endLocked(fmt.Errorf("%w: %w", ErrLeaseLost, cause), LossClosed, o.c.env.Clock.Now())
}

// loseLocked ends the ownership as lost. What several groups have of a set
// stays held until Release, so that nobody enters while the caller unwinds;
// a single lease has nothing left to hold, and what was forgotten nobody can
// release.
func (o *ownership) loseLocked(reason hub.LossReason, now clock.Instant) {
	if o.end == nil {
		o.c.metrics.lost(reason)
		loss := lossReasonOf(reason)
		o.endLocked(fmt.Errorf("%w: %s", ErrLeaseLost, loss.text()), loss, now)
	}
	if o.handed && (len(o.holds) == 1 || o.forgotten) {
		o.giveLocked()
	}
}

// endLocked ends the ownership, if it has not ended yet. loss is the reason if it
// was lost.
func (o *ownership) endLocked(end error, loss LossReason, now clock.Instant) {
	if o.end != nil {
		return
	}
	o.end = end
	if o.handed {
		o.c.metrics.holds.observe(now.Sub(o.since))
		o.endedLocked(loss, now)
		o.since = now
	}
	if o.scope != nil {
		o.scope.cancel(end) // before done: who waits for that may ask for the cause
	}
	o.endangered.give()
	o.done.give()
}

func (o *ownership) endanger() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.endangered.give()
}

// state says where in its life the ownership is.
func (o *ownership) state() State {
	if o == nil {
		return Lost
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch err := o.errLocked(o.c.env.Clock.Now()); {
	case err == nil:
		for _, h := range o.holds {
			if h.group.failing.Load() {
				return Endangered
			}
		}
		return Active
	case !errors.Is(err, ErrReleased):
		return Lost
	}
	if o.gone.given() {
		return Released
	}
	return Releasing
}

func (o *ownership) remaining() time.Duration {
	if o == nil {
		return 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.c.env.Clock.Now()
	if o.errLocked(now) != nil {
		return 0
	}
	return o.remainingLocked(now)
}

// remainingLocked returns the shortest time left of the windows.
func (o *ownership) remainingLocked(now clock.Instant) time.Duration {
	left := o.ttl
	for _, h := range o.holds {
		left = min(left, h.windowEnd().Sub(now))
	}
	return max(0, left)
}

// token returns the token of the lease on a key.
func (o *ownership) token(key string) (token.Token, bool) {
	if !o.has(key) {
		return 0, false
	}
	g := o.c.groupOf(key)
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, h := range o.holds {
		if h.group == g {
			return h.token, true
		}
	}
	return 0, false
}

// has reports whether a key is one of the ownership's.
func (o *ownership) has(key string) bool {
	_, found := slices.BinarySearch(o.keys, key)
	return found
}

// release ends the ownership, gives everything back and waits until that is
// confirmed; see Lease.Release.
func (o *ownership) release(ctx context.Context) error {
	if o == nil {
		return &Error{"Release", "", NotApplied, errNil}
	}
	if ctx == nil {
		return o.error("Release", NotApplied, fmt.Errorf("%w: the context is nil", ErrInvalid))
	}
	// Whether ctx is of this very lease has to be known before the lease's
	// own end ends it.
	own := derivesFrom(ctx, o) && ctx.Err() == nil
	err := o.giveBack("Release")
	if err != nil {
		return err
	}
	if own {
		// The end of the lease must not cut its own release short, and as a
		// bound it has none. T is enough: an answer that takes longer finds a
		// lease that nobody would trust any longer anyway.
		until := time.Now().Add(o.ttl)
		if deadline, ok := ctx.Deadline(); ok && deadline.Before(until) {
			until = deadline
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(context.WithoutCancel(ctx), until)
		defer cancel()
	}
	gone := o.vanished()
	select {
	case <-gone:
	case <-ctx.Done():
		err = fmt.Errorf("not confirmed yet, it goes on in the background: %w", endOf(ctx))
	case <-o.c.dead:
		err = ErrClosed
	}
	select {
	case <-gone: // whatever else has happened at the same time
		return nil
	default:
		return o.error("Release", Unknown, err)
	}
}

// giveBack ends the ownership as released and hands everything back to the
// groups. It waits for nothing. The error says that the ownership was lost
// before.
func (o *ownership) giveBack(op string) error {
	if o == nil {
		return &Error{op, "", NotApplied, errNil}
	}
	o.mu.Lock()
	now := o.c.env.Clock.Now()
	err := o.errLocked(now)
	lost := err != nil && !errors.Is(err, ErrReleased)
	if lost && o.handed {
		o.overranLocked(now)
	}
	o.endLocked(ErrReleased, noLoss, now)
	o.giveLocked()
	o.mu.Unlock()
	if lost {
		return o.error(op, NotApplied, err)
	}
	return nil
}

// wasHanded reports whether it came into its caller's hands.
func (o *ownership) wasHanded() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.handed
}

// wasReleased reports whether its owner has released it.
func (o *ownership) wasReleased() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.handed && o.end == ErrReleased
}

// abandon ends an ownership that never came into its caller's hands. outcome and
// err say why.
func (o *ownership) abandon(outcome Outcome, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.c.env.Clock.Now()
	if !o.handed {
		o.waitedLocked(outcome, err, now)
	}
	o.endLocked(ErrReleased, noLoss, now)
	o.giveLocked()
}

// giveLocked hands all leases back to their groups, once.
func (o *ownership) giveLocked() {
	if o.given {
		return
	}
	o.given = true
	for _, h := range o.holds {
		h.release()
	}
	o.goneLocked()
}

func (o *ownership) goneLocked() {
	if o.given && o.open == 0 {
		o.confirmedLocked()
		o.c.forget(o) // before gone: who waits for that may ask for the next lease
		o.gone.give()
	}
}

// ensure waits until at least d remain; see Lease.Ensure.
func (o *ownership) ensure(ctx context.Context, d time.Duration) error {
	if o == nil {
		return &Error{"Ensure", "", NotApplied, errNil}
	}
	if err := checkContext("Ensure", keysText(o.keys), ctx); err != nil {
		return err
	}
	if most := keeper.Window(o.ttl); d >= most {
		return o.error("Ensure", NotApplied, fmt.Errorf("%w: %v never remain of a ttl of %v, at most %v", ErrInvalid, d, o.ttl, most))
	}
	for {
		o.mu.Lock()
		now := o.c.env.Clock.Now()
		end, left, holds := o.errLocked(now), o.remainingLocked(now), o.holds
		o.mu.Unlock()
		if end != nil {
			return o.error("Ensure", NotApplied, end)
		}
		if left >= d {
			return nil
		}
		for _, h := range holds {
			if err := o.renew(ctx, h, d); err != nil {
				return err
			}
		}
	}
}

// renew has the group of one lease hear of this node once more.
func (o *ownership) renew(ctx context.Context, h *hold, d time.Duration) error {
	if h.limitEnd != 0 && h.limitEnd.Sub(o.c.env.Clock.Now()) < d {
		return o.error("Ensure", NotApplied, fmt.Errorf("%w: less than %v remain of the max hold, and renewing does not add to it", ErrInvalid, d))
	}
	reached, giveUp := h.group.mark(o.c.newRef())
	select {
	case <-reached:
		return nil
	case <-ctx.Done():
		giveUp()
		return o.error("Ensure", Unknown, o.c.unavailable(endOf(ctx)))
	case <-o.ended():
		giveUp()
		return o.error("Ensure", NotApplied, o.Err())
	}
}

func (o *ownership) error(op string, outcome Outcome, err error) error {
	return &Error{op, keysText(o.keys), outcome, err}
}
