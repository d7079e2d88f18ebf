package hub

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/palisade-go/palisade/coordinator/internal/batcher"
	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/statemachine"
)

// State is what a group's state says of this node at an index: its presence,
// and what that presence's incarnation has.
type State struct {
	Index    statemachine.Index
	Presence statemachine.Presence
	Leases   []statemachine.Lease
	Waits    []statemachine.Wait
}

// Installed settles from a state, because the entries that it covers bring
// no events: after a snapshot install or when the replica was opened.
//
// A batch above the presence's last one is not settled and goes on being
// retried. One at or below it either took effect or never will; the state
// shows which.
func (h *Hub) Installed(state State, now clock.Instant) {
	if state.Index < h.seen {
		return
	}
	h.begin(now)
	h.seen = state.Index
	if h.resync(state, now) {
		h.finish(now)
	}
}

func (h *Hub) resync(state State, now clock.Instant) bool {
	id, known := h.cfg.Identity, state.Presence
	switch {
	case known.Incarnation == 0:
		return true // not announced yet: nothing can be settled
	case known.Directory != id.Directory:
		h.fatal(fmt.Errorf("%w: %s, this is %s", ErrDirectory, known.Directory, id.Directory))
		return false
	case known.Incarnation > id.Incarnation:
		h.fatal(fmt.Errorf("%w: incarnation %d, this is %d", ErrSuperseded, known.Incarnation, id.Incarnation))
		return false
	case known.Incarnation < id.Incarnation:
		return true
	}
	covered, err := h.batcher.Cover(known.Last)
	if err != nil {
		h.fatal(err)
		return false
	}
	if send, ok := h.batcher.FirstSend(known.Last); ok && len(covered) > 0 {
		h.settled = now
		h.heard(send)
	}
	leases := map[statemachine.Seq]statemachine.Lease{}
	for _, l := range state.Leases {
		leases[l.ID.Seq] = l
	}
	waits := map[statemachine.Seq]struct{}{}
	for _, w := range state.Waits {
		waits[w.ID.Seq] = struct{}{}
	}
	for _, f := range covered {
		for _, c := range f.Commands {
			h.cover(c, leases, waits, known.Left)
		}
	}
	for _, r := range h.sorted() {
		h.compare(r, leases, waits, covered, now)
	}
	h.disownUnknown(state)
	h.reach(known.Last)
	return true
}

// cover settles one command of a batch at or below the presence's last. What
// became of an acquire that is there is left to compare.
func (h *Hub) cover(c statemachine.Command, leases map[statemachine.Seq]statemachine.Lease, waits map[statemachine.Seq]struct{}, left bool) {
	there := func(seq statemachine.Seq) bool {
		_, lease := leases[seq]
		_, wait := waits[seq]
		return lease || wait
	}
	switch c := c.(type) {
	case statemachine.Acquire:
		if !there(c.Seq) {
			h.died(c)
		} else if r := h.bySeq[c.Seq]; r != nil && r.phase == asked {
			r.phase = queued
			h.keeper.Wait(r.seq, r.ask.TTL, r.ask.Limit)
		}
	case statemachine.Cancel:
		if there(c.Seq) {
			h.died(c)
		} else {
			h.done(c)
		}
	case statemachine.Release:
		if there(c.Seq) {
			h.died(c)
		} else {
			h.done(c)
		}
	case statemachine.Leave:
		if left {
			h.done(c)
		} else {
			h.died(c)
		}
	}
}

// compare settles a request that no covered command has settled.
func (h *Hub) compare(r *request, leases map[statemachine.Seq]statemachine.Lease, waits map[statemachine.Seq]struct{}, covered []*batcher.Flight, now clock.Instant) {
	lease, isLease := leases[r.seq]
	switch r.phase {
	case queued:
		if isLease {
			send, known := h.sendOf(lease.Last, covered)
			h.granted(lease.ID, grant{lease.Token, send, known}, now)
		} else if _, isWait := waits[r.seq]; !isWait {
			h.say(Unavailable{r.ref})
			h.over(r)
		}
	case held:
		if !isLease {
			h.say(Lost{r.ref, LostUnknown})
			h.over(r)
		}
	}
}

// sendOf finds the first send of a batch that may be among those just covered.
func (h *Hub) sendOf(number statemachine.BatchNumber, covered []*batcher.Flight) (clock.Instant, bool) {
	for _, f := range covered {
		if f.Number == number {
			return f.FirstSend, true
		}
	}
	return h.batcher.FirstSend(number)
}

// disownUnknown gives back what the state has for this incarnation without a
// request here.
func (h *Hub) disownUnknown(state State) {
	if h.leaving {
		return
	}
	for _, l := range state.Leases {
		if h.bySeq[l.ID.Seq] == nil {
			h.disown(l.ID.Seq, statemachine.Release{Seq: l.ID.Seq})
		}
	}
	for _, w := range state.Waits {
		if h.bySeq[w.ID.Seq] == nil {
			h.disown(w.ID.Seq, statemachine.Cancel{Seq: w.ID.Seq})
		}
	}
}

// sorted returns the requests by rising seq.
func (h *Hub) sorted() []*request {
	all := make([]*request, 0, len(h.bySeq))
	for _, r := range h.bySeq {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *request) int { return cmp.Compare(a.seq, b.seq) })
	return all
}
