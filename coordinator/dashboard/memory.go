package dashboard

import (
	"fmt"
	"time"

	"github.com/palisade-go/palisade/coordinator"
)

const (
	lossesKept = 200
	eventsKept = 100
)

// memory is what is kept of what the observer was told.
type memory struct {
	heat     heat
	trend    trend
	losses   ring[Loss]
	events   ring[Happening]
	waitEnds map[string]uint64
	dropped  uint64
}

func newMemory() memory {
	m := memory{heat: newHeat(), losses: newRing[Loss](lossesKept), events: newRing[Happening](eventsKept), waitEnds: map[string]uint64{}}
	for end := coordinator.WaitOther; end <= coordinator.WaitClosed; end++ {
		m.waitEnds[end.String()] = 0
	}
	return m
}

func (m *memory) note(e coordinator.Event) {
	switch e := e.(type) {
	case *coordinator.Transition:
		m.transition(e)
	case *coordinator.Overrun:
		m.losses.each(func(l *Loss) bool {
			if l.Request != e.Request {
				return true
			}
			after := seconds(e.After)
			l.ReleasedAfter = &after
			return false
		})
	case *coordinator.Renewing:
		what := "renewing works again"
		if e.Failing {
			what = "renewing fails"
		}
		if e.Leases > 0 { // without one nothing is at stake, as before the first leader
			m.happened(e.At, e.Failing, "group %d: %s, %d leases", e.Group, what, e.Leases)
		}
	case *coordinator.Expired:
		m.happened(e.At, true, "group %d has expired %d leases of this node", e.Group, e.Leases)
	case *coordinator.LeaderChanged:
		m.trend.of(e.At).leader++
		if e.Leader == 0 {
			m.happened(e.At, true, "group %d has no leader in term %d", e.Group, e.Term)
		} else {
			m.happened(e.At, false, "group %d is led by node %d in term %d", e.Group, e.Leader, e.Term)
		}
	case *coordinator.Dropped:
		m.dropped += e.Events
	}
}

func (m *memory) happened(at time.Time, bad bool, format string, args ...any) {
	m.events.add(Happening{At: at.UTC(), Bad: bad, What: fmt.Sprintf(format, args...)})
}

func (m *memory) transition(t *coordinator.Transition) {
	minute := m.trend.of(t.At)
	switch t.To {
	case coordinator.Active, coordinator.Failed:
		m.waitEnds[t.Wait.String()]++
		minute.wait(t.Took)
		for _, key := range t.Keys {
			m.heat.add(t.At, key, t.Took)
		}
		if t.To == coordinator.Active {
			minute.acquired++
		} else {
			minute.failed++
		}
	case coordinator.Lost:
		minute.losses++
		m.losses.add(Loss{
			At: t.At.UTC(), Request: t.Request, Key: t.Keys[0], Keys: len(t.Keys), Token: t.Token.String(), Group: t.Group,
			Reason: t.Loss.String(), Why: wordsOf(t.Loss), Held: seconds(t.Took), TTL: seconds(t.TTL),
		})
	}
}

// wordsOf says what a reason for a loss means.
func wordsOf(reason coordinator.LossReason) string {
	switch reason {
	case coordinator.LossWindow:
		return "the group did not answer in time: its safe window was over"
	case coordinator.LossLimit:
		return "its max hold was reached"
	case coordinator.LossExpired:
		return "the group did not hear this node for the TTL"
	case coordinator.LossSwept:
		return "the group takes this start of the node for gone"
	case coordinator.LossClosed:
		return "the node was closed"
	}
	return "the group no longer had it when the node had caught up"
}
