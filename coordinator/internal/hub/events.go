package hub

import (
	"fmt"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/token"
)

// Applied takes the events of one log entry.
func (h *Hub) Applied(index statemachine.Index, events []statemachine.Event, now clock.Instant) {
	if index <= h.seen {
		return
	}
	h.begin(now)
	h.seen = index
	for _, e := range events {
		switch e := e.(type) {
		case statemachine.Applied:
			h.applied(e, now)
		case statemachine.Rejected:
			h.rejected(e)
		case statemachine.Granted:
			if h.own(e.Lease) {
				send, known := h.batcher.FirstSend(e.Last)
				h.granted(e.Lease, grant{e.Token, send, known}, now)
			}
		case statemachine.Queued:
			if h.own(e.Lease) {
				h.queued(e.Lease.Seq, now)
			}
		case statemachine.Refused:
			if e.Node == h.cfg.Identity.Node && e.Incarnation == h.cfg.Identity.Incarnation {
				h.refused(e)
			}
		case statemachine.Ended:
			if h.own(e.Lease) {
				h.ended(e)
			}
		}
	}
}

func (h *Hub) own(id statemachine.LeaseID) bool {
	return id.Node == h.cfg.Identity.Node && id.Incarnation == h.cfg.Identity.Incarnation
}

// applied settles the batch with that number, and finds the ones before it
// that are dead.
func (h *Hub) applied(e statemachine.Applied, now clock.Instant) {
	if e.Node != h.cfg.Identity.Node || e.Incarnation < h.cfg.Identity.Incarnation {
		return
	}
	if e.Incarnation > h.cfg.Identity.Incarnation {
		h.fatal(fmt.Errorf("%w: incarnation %d, this is %d", ErrSuperseded, e.Incarnation, h.cfg.Identity.Incarnation))
		return
	}
	flight, dead, err := h.batcher.Settle(e.Number)
	if err != nil {
		h.fatal(err)
		return
	}
	for _, f := range dead {
		for _, c := range f.Commands {
			h.died(c)
		}
	}
	h.settled = now
	if flight == nil {
		return
	}
	h.heard(flight.FirstSend)
	for _, c := range flight.Commands {
		h.done(c)
	}
	h.reach(e.Number)
}

// heard moves the windows of the group.
func (h *Hub) heard(send clock.Instant) {
	if h.keeper.Heard(send) {
		h.say(Recovered{})
	}
}

// reach answers the marks up to a number.
func (h *Hub) reach(number statemachine.BatchNumber) {
	rest := h.marks[:0]
	for _, m := range h.marks {
		if m.number <= number {
			h.say(Reached{m.ref})
			continue
		}
		rest = append(rest, m)
	}
	h.marks = rest
}

// died handles a command that never will take effect: its batch's number has
// been passed.
func (h *Hub) died(c statemachine.Command) {
	switch c := c.(type) {
	case statemachine.Acquire:
		r := h.bySeq[c.Seq]
		switch {
		case r == nil:
		case r.phase == asked:
			h.number(r)
		case r.phase == leaving:
			// Nobody waits, and there is nothing to give back.
			h.over(r)
		}
	case statemachine.Cancel:
		h.again(c.Seq)
	case statemachine.Release:
		h.again(c.Seq)
	case statemachine.Leave:
		h.batcher.Add(c)
	}
}

// again puts the end of a request in line once more.
func (h *Hub) again(seq statemachine.Seq) {
	if r := h.bySeq[seq]; r != nil && r.phase == leaving {
		h.batcher.Add(r.last())
	}
}

// done handles a command that took effect, where no event of its own will
// tell: after a Cancel or Release nothing of the request is left.
func (h *Hub) done(c statemachine.Command) {
	var seq statemachine.Seq
	switch c := c.(type) {
	case statemachine.Cancel:
		seq = c.Seq
	case statemachine.Release:
		seq = c.Seq
	case statemachine.Leave:
		h.say(Left{})
		return
	default:
		return
	}
	if r := h.bySeq[seq]; r != nil && r.phase == leaving {
		h.over(r)
	}
}

func (h *Hub) rejected(e statemachine.Rejected) {
	id := h.cfg.Identity
	if e.Node != id.Node || e.Directory != id.Directory || e.Incarnation != id.Incarnation {
		return
	}
	switch e.Reason {
	case statemachine.RejectedSuperseded:
		h.fatal(fmt.Errorf("%w: incarnation %d, this is %d", ErrSuperseded, e.Known.Incarnation, id.Incarnation))
	case statemachine.RejectedDirectory:
		h.fatal(fmt.Errorf("%w: %s, this is %s", ErrDirectory, e.Known.Directory, id.Directory))
	case statemachine.RejectedLeft:
		// A late batch of ours after our own Leave.
	}
}

// grant is what the hub needs of a granted lease.
type grant struct {
	token token.Token
	// send is the first send of the batch that the lease record names, if
	// that is known.
	send  clock.Instant
	known bool
}

// granted hands a lease to its caller, or gives it back: one that nobody
// waits for, and one whose window is over before it could be used.
func (h *Hub) granted(id statemachine.LeaseID, g grant, now clock.Instant) {
	r := h.bySeq[id.Seq]
	switch {
	case r == nil:
		if !h.leaving {
			h.disown(id.Seq, release)
		}
		return
	case r.phase == leaving || r.phase == held:
		return
	}
	ttl, limit := r.ttl, r.ask.Limit
	sendKnown := g.known || limit == 0 // only a limit counts from it
	if !sendKnown || !h.keeper.Usable(now, ttl, limit, g.send) {
		h.late(r, release)
		return
	}
	r.phase, r.ask = held, nil
	end := h.keeper.Hold(r.seq, ttl, limit, g.send)
	h.say(Granted{r.ref, id, g.token, end})
}

// queued notes that a request has its place in line. A place that could not
// be trusted any longer is given back: the caller was never told of it, and
// goes on waiting.
func (h *Hub) queued(seq statemachine.Seq, now clock.Instant) {
	r := h.bySeq[seq]
	switch {
	case r == nil:
		if !h.leaving {
			h.disown(seq, cancel)
		}
	case r.phase == asked && !h.keeper.Usable(now, r.ttl, 0, 0):
		h.late(r, cancel)
	case r.phase == asked:
		r.phase = queued
		h.keeper.Wait(seq, r.ttl, r.ask.Limit)
		h.say(Queued{r.ref})
	}
}

func (h *Hub) refused(e statemachine.Refused) {
	r := h.bySeq[e.Seq]
	switch {
	case e.Seq == 0 || r == nil:
	case r.phase == leaving:
		h.over(r)
	case r.phase == asked && e.Reason == statemachine.RefusedBusy && h.givesBack(e.Holders):
		h.number(r)
	case r.phase == asked:
		h.forget(r)
		h.say(Refused{r.ref, e.Reason, e.Holders})
	}
}

// givesBack reports whether all that is in the way of a try is on its way back
// from here.
func (h *Hub) givesBack(holders []statemachine.Holder) bool {
	for _, holder := range holders {
		r := h.bySeq[holder.Lease.Seq]
		if !h.own(holder.Lease) || r == nil || r.phase != leaving {
			return false
		}
	}
	return len(holders) > 0
}

// ended handles an end that this node did not ask for.
func (h *Hub) ended(e statemachine.Ended) {
	r := h.bySeq[e.Lease.Seq]
	if r == nil {
		return
	}
	switch r.phase {
	case queued:
		h.say(Unavailable{r.ref})
	case held:
		h.say(Lost{r.ref, lossOf(e.Reason)})
	}
	h.over(r)
}

func lossOf(reason statemachine.EndReason) LossReason {
	switch reason {
	case statemachine.EndExpired:
		return LostExpired
	case statemachine.EndLimit:
		return LostLimit
	case statemachine.EndSwept:
		return LostSwept
	}
	return LostUnknown
}
