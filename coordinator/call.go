package coordinator

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/hub"
	"github.com/palisade-go/palisade/statemachine"
)

// call is one request to one group while its caller waits, and until the
// group has nothing of it.
type call struct {
	ref    hub.Ref
	group  *group
	owner  *ownership
	claims []statemachine.Claim
	ttl    time.Duration
	queued atomic.Bool // has a place in line
	// out has room for the one answer, so that giving it never blocks.
	out      chan answer
	answered bool // the group's goroutine's
}

// answer is a lease or a failure.
type answer struct {
	hold    *hold
	failure *failure
}

// failure is why a request ended without a lease.
type failure struct {
	outcome Outcome
	err     error
}

// refusalError turns the group's reason into an error of this package.
func refusalError(e hub.Refused) error {
	switch e.Reason {
	case statemachine.RefusedBusy:
		return &BusyError{holdersOf(e.Holders)}
	case statemachine.RefusedQueueFull:
		return ErrQueueFull
	case statemachine.RefusedExhausted:
		return fmt.Errorf("%w: no fencing token is left in this epoch", ErrUnavailable)
	}
	// The arguments were checked before, so the group is newer or older
	// than this code.
	return fmt.Errorf("%w: refused by the group (reason %d)", ErrInvalid, e.Reason)
}

// ask hands a request to its group. The call's answer comes on out.
func (c *Coordinator) ask(g *group, own *ownership, ask hub.Ask) *call {
	cl := &call{
		ref: c.newRef(), group: g, owner: own, claims: ask.Claims, ttl: ask.TTL, out: make(chan answer, 1),
	}
	own.opened(cl)
	g.mail.put(func(h *hub.Hub, now clock.Instant) {
		g.calls[cl.ref] = cl
		h.Acquire(cl.ref, ask, now)
	})
	return cl
}

// answer is called by the group's goroutine; only the first counts.
func (cl *call) answer(h *hold, f *failure) {
	if !cl.answered {
		cl.answered = true
		cl.group.answers++
		cl.out <- answer{h, f}
	}
}

// withdraw tells the group that the caller has left. A grant that crosses
// the withdrawal is given back by it.
func (cl *call) withdraw() {
	cl.group.mail.put(func(h *hub.Hub, now clock.Instant) {
		cl.answered = true
		h.Cancel(cl.ref, now)
	})
}

// wait returns the answer of the group. If ctx or the coordinator's life
// ends first, or a lease that belongs to the same request is lost, then the
// request is withdrawn, unless the answer is there already.
func (cl *call) wait(ctx, life context.Context) (*hold, *failure) {
	var end func() error
	select {
	case a := <-cl.out:
		return a.hold, a.failure
	case <-ctx.Done():
		end = func() error { return cl.endOf(ctx) }
	case <-life.Done():
		end = func() error { return context.Cause(life) }
	case <-cl.owner.lossChannel():
		end = cl.owner.Err
	}
	select {
	case a := <-cl.out:
		return a.hold, a.failure
	default:
		cl.withdraw()
		return nil, &failure{Unknown, end()}
	}
}

// endOf says what the wait was for when its context ended: a turn in line,
// or any answer at all.
func (cl *call) endOf(ctx context.Context) error {
	err := endOf(ctx)
	if errors.Is(err, errNoAnswer) {
		err = errNoAnswer // the deadline is not the caller's
	}
	if cl.queued.Load() {
		return fmt.Errorf("gave up in line: %s: %w", cl.group.ahead(cl.claims), err)
	}
	return cl.group.unavailable(err)
}
