package expiry

import (
	"container/heap"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/statemachine"
)

// limits holds the leases that have a limit, the one that is due first on
// top. It holds each lease once, and none that has ended, so its size is that
// of the state it mirrors.
type limits struct {
	entries []*limitEntry // a heap, ordered by less
	byLease map[statemachine.LeaseID]*limitEntry
}

type limitEntry struct {
	lease    statemachine.LeaseID
	due      clock.Instant // when to propose: the limit's end, later the retry
	position int           // in entries
}

// add starts the limit of a lease. A lease that is there already starts anew.
func (l *limits) add(lease statemachine.LeaseID, due clock.Instant) {
	if e, ok := l.byLease[lease]; ok {
		e.due = due
		heap.Fix(l, e.position)
		return
	}
	if l.byLease == nil {
		l.byLease = make(map[statemachine.LeaseID]*limitEntry)
	}
	e := &limitEntry{lease: lease, due: due}
	l.byLease[lease] = e
	heap.Push(l, e)
}

// remove drops a lease that has ended; it may be one without a limit.
func (l *limits) remove(lease statemachine.LeaseID) {
	if e, ok := l.byLease[lease]; ok {
		heap.Remove(l, e.position)
		delete(l.byLease, lease)
	}
}

// first returns the lease that is due first; false when there is none.
func (l *limits) first() (statemachine.LeaseID, clock.Instant, bool) {
	if len(l.entries) == 0 {
		return statemachine.LeaseID{}, 0, false
	}
	return l.entries[0].lease, l.entries[0].due, true
}

// clear drops everything, and the memory too.
func (l *limits) clear() { *l = limits{} }

// Len, Less, Swap, Push and Pop implement heap.Interface.

func (l *limits) Len() int { return len(l.entries) }

// Less breaks ties by the lease's id, so that equal replicas make equal plans.
func (l *limits) Less(i, j int) bool {
	a, b := l.entries[i], l.entries[j]
	switch {
	case a.due != b.due:
		return a.due < b.due
	case a.lease.Node != b.lease.Node:
		return a.lease.Node < b.lease.Node
	case a.lease.Incarnation != b.lease.Incarnation:
		return a.lease.Incarnation < b.lease.Incarnation
	}
	return a.lease.Seq < b.lease.Seq
}

func (l *limits) Swap(i, j int) {
	l.entries[i], l.entries[j] = l.entries[j], l.entries[i]
	l.entries[i].position = i
	l.entries[j].position = j
}

func (l *limits) Push(x any) {
	e := x.(*limitEntry)
	e.position = len(l.entries)
	l.entries = append(l.entries, e)
}

func (l *limits) Pop() any {
	last := len(l.entries) - 1
	e := l.entries[last]
	l.entries[last] = nil
	l.entries = l.entries[:last]
	return e
}
