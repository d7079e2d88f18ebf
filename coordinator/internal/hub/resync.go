package hub

import (
	"cmp"
	"fmt"
	"slices"

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
	h.resync(state, now)
}

func (h *Hub) resync(state State, now clock.Instant) {
	id, known := h.cfg.Identity, state.Presence
	switch {
	case known.Incarnation == 0:
		return // not announced yet: nothing can be settled
	case known.Directory != id.Directory:
		h.fatal(fmt.Errorf("%w: %s, this is %s", ErrDirectory, known.Directory, id.Directory))
		return
	case known.Incarnation > id.Incarnation:
		h.fatal(fmt.Errorf("%w: incarnation %d, this is %d", ErrSuperseded, known.Incarnation, id.Incarnation))
		return
	case known.Incarnation < id.Incarnation:
		return
	}
	has := h.possessions(state)
	covered, err := h.batcher.Cover(known.Last)
	if err != nil {
		h.fatal(err)
		return
	}
	if send, ok := h.batcher.FirstSend(known.Last); ok && len(covered) > 0 {
		h.settled = now
		h.heard(send)
	}
	for _, f := range covered {
		for _, c := range f.Commands {
			h.cover(c, has, known.Left, now)
		}
	}
	for _, r := range h.sorted() {
		h.compare(r, has, now)
	}
	h.disownUnknown(state)
	h.reach(known.Last)
}

// possessions is what a state has of this incarnation.
type possessions struct {
	leases map[statemachine.Seq]lease
	waits  map[statemachine.Seq]struct{}
}

type lease struct {
	id statemachine.LeaseID
	grant
}

// possessions looks the state through before the batches are covered that its
// leases name, because their first sends are forgotten then.
func (h *Hub) possessions(state State) possessions {
	has := possessions{map[statemachine.Seq]lease{}, map[statemachine.Seq]struct{}{}}
	for _, l := range state.Leases {
		send, known := h.batcher.FirstSend(l.Last)
		has.leases[l.ID.Seq] = lease{l.ID, grant{l.Token, send, known}}
	}
	for _, w := range state.Waits {
		has.waits[w.ID.Seq] = struct{}{}
	}
	return has
}

func (p possessions) has(seq statemachine.Seq) bool {
	_, isLease := p.leases[seq]
	_, isWait := p.waits[seq]
	return isLease || isWait
}

// cover settles one command of a batch at or below the presence's last: what
// it asked for is there, or the command is dead or was overtaken, which comes
// to the same.
func (h *Hub) cover(c statemachine.Command, has possessions, left bool, now clock.Instant) {
	took := false
	switch c := c.(type) {
	case statemachine.Acquire:
		if l, ok := has.leases[c.Seq]; ok {
			h.granted(l.id, l.grant, now)
			return
		}
		if _, ok := has.waits[c.Seq]; ok {
			h.queued(c.Seq, now)
			return
		}
	case statemachine.Cancel:
		took = !has.has(c.Seq)
	case statemachine.Release:
		took = !has.has(c.Seq)
	case statemachine.Leave:
		took = left
	}
	if took {
		h.done(c)
	} else {
		h.died(c)
	}
}

// compare settles a request that no covered command has settled.
func (h *Hub) compare(r *request, has possessions, now clock.Instant) {
	l, isLease := has.leases[r.seq]
	switch {
	case r.phase == queued && isLease:
		h.granted(l.id, l.grant, now)
	case r.phase == queued && !has.has(r.seq):
		h.say(Unavailable{r.ref})
		h.over(r)
	case r.phase == held && !isLease:
		h.say(Lost{r.ref, LostUnknown})
		h.over(r)
	}
}

// disownUnknown gives back what the state has for this incarnation without a
// request here.
func (h *Hub) disownUnknown(state State) {
	if h.leaving {
		return
	}
	for _, l := range state.Leases {
		if h.bySeq[l.ID.Seq] == nil {
			h.disown(l.ID.Seq, release)
		}
	}
	for _, w := range state.Waits {
		if h.bySeq[w.ID.Seq] == nil {
			h.disown(w.ID.Seq, cancel)
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
