package sim

import (
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/hub"
)

// ills are the strikes of a node that go on over many messages: how many of
// each kind last at the moment.
type ills struct {
	n      *node
	random stream

	losing, delaying, doubling, reordering int
	unanswered                             int
	slowApply, slowHub                     int

	sent    int         // proposals
	arrived map[int]int // of each group, the latest one sent of those that came
}

// trip is the way of one copy of a proposal.
type trip struct {
	takes   time.Duration
	arrives func()
}

// trips draws what becomes of a proposal.
func (i *ills) trips(g *group) []trip {
	w := i.n.w
	i.sent++
	serial := i.sent
	copies, takes := 1, func() time.Duration { return i.random.within(w.setting.trip) }
	switch {
	case i.losing > 0 && i.random.chance(50):
		w.count["lost proposals"]++
		return nil
	case i.doubling > 0 && i.random.chance(50):
		w.count["doubled proposals"]++
		copies = 2
	}
	if i.delaying > 0 && i.random.chance(30) {
		w.count["late proposals"]++
		takes = func() time.Duration { return i.random.between(0, ttlLong) }
	} else if i.reordering > 0 && i.random.chance(50) {
		takes = func() time.Duration {
			return i.random.within(w.setting.trip) + i.random.between(0, 400*time.Millisecond)
		}
	}
	all := make([]trip, copies)
	for c := range all {
		all[c] = trip{takes(), func() {
			at := int(g.id)
			if serial < i.arrived[at] && i.reordering > 0 {
				w.count["reordered proposals"]++
			}
			i.arrived[at] = max(i.arrived[at], serial)
		}}
	}
	return all
}

// answer draws whether an attempt counts as failed, whatever came of it: the
// answer was lost.
func (i *ills) answer(s *shell, sent hub.Send) {
	if i.unanswered > 0 && i.random.chance(50) {
		i.n.w.count["lost answers"]++
		i.n.timer(i.random.between(0, 500*time.Millisecond), func() { s.attemptFailed(sent) })
	}
}

// lag draws how long the replica takes before it applies the next entries.
func (i *ills) lag() time.Duration {
	if i.slowApply > 0 && i.random.chance(50) {
		i.n.w.count["slow apply"]++
		return i.random.between(0, 2*time.Second)
	}
	return i.random.between(0, 10*time.Millisecond)
}

// turn draws how long it takes until the hub's goroutine looks into its
// mailbox.
func (i *ills) turn() time.Duration {
	if i.slowHub > 0 && i.random.chance(30) {
		i.n.w.count["slow hub"]++
		return i.random.between(0, 2*time.Second)
	}
	return i.random.between(0, 2*time.Millisecond)
}
