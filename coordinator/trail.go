package coordinator

import (
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
)

// trail is what an ownership knows for the observers of its node. Without
// observers it has none. It is guarded by the ownership's mutex, and so are the
// calls of tell: what happens to one request is told in order.
type trail struct {
	subject Subject // without the token until there is one
	inLine  bool
	behind  []Holder   // if inLine
	loss    LossReason // of a lease that was lost
	overrun bool       // was told of
}

// newTrail returns the trail of the next request, if somebody observes it.
func (c *Coordinator) newTrail(r *request) *trail {
	if c.feed == nil {
		return nil
	}
	return &trail{subject: Subject{
		Request: c.nextRequest.Add(1), Keys: r.keys, RequestID: r.id, TTL: r.ttl,
		Group: int(c.groupOf(r.keys[0]).id), Context: r.values,
	}}
}

// grantedLocked notes the token of the first key, once its lease is there.
func (t *trail) grantedLocked(h *hold) {
	if t != nil && int(h.group.id) == t.subject.Group {
		t.subject.Token = h.token
	}
}

// waits says that the request has its place in line in a group, behind some
// holders; the first time counts. Called by the group's goroutine, which may come
// after the caller has left.
func (o *ownership) waits(behind []Holder, now clock.Instant) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.trail == nil || o.trail.inLine || o.end != nil || o.handed {
		return
	}
	o.trail.inLine, o.trail.behind = true, behind
	o.c.feed.tell(&Transition{
		Subject: o.trail.subject, At: time.Now(), From: Asked, To: Queued, Took: now.Sub(o.since), Behind: behind,
	})
}

// waitedLocked says that the wait has ended with err.
func (o *ownership) waitedLocked(outcome Outcome, err error, now clock.Instant) {
	if o.trail == nil {
		return
	}
	t := &Transition{
		Subject: o.trail.subject, At: time.Now(), From: Asked, To: Active, Took: now.Sub(o.since),
		Wait: waitEndOf(err), Outcome: outcome, Err: err, Behind: o.trail.behind,
	}
	o.trail.behind = nil
	if o.trail.inLine {
		t.From = Queued
	}
	if err != nil {
		t.To = Failed
	}
	o.c.feed.tell(t)
}

// endedLocked says that a lease which was in its caller's hands has ended: loss
// says why, unless its owner has released it.
func (o *ownership) endedLocked(loss LossReason, now clock.Instant) {
	if o.trail == nil {
		return
	}
	t := &Transition{Subject: o.trail.subject, At: time.Now(), From: Active, To: Releasing, Took: now.Sub(o.since)}
	if o.end != ErrReleased {
		t.To, t.Loss, t.Err, o.trail.loss = Lost, loss, o.end, loss
	} else {
		t.Remaining = o.remainingLocked(now)
	}
	o.c.feed.tell(t)
}

// confirmedLocked says that no group has anything left of a lease that its owner
// has released.
func (o *ownership) confirmedLocked() {
	if o.trail == nil || !o.handed || o.end != ErrReleased {
		return
	}
	o.c.feed.tell(&Transition{
		Subject: o.trail.subject, At: time.Now(), From: Releasing, To: Released, Took: o.c.env.Clock.Now().Sub(o.since),
	})
}

// overranLocked says that the owner of a lost lease releases it only now.
func (o *ownership) overranLocked(now clock.Instant) {
	if o.trail == nil || o.trail.overrun {
		return
	}
	o.trail.overrun = true
	o.c.feed.tell(&Overrun{Subject: o.trail.subject, At: time.Now(), After: now.Sub(o.since), Loss: o.trail.loss})
}
