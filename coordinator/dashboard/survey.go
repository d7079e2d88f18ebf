package dashboard

import (
	"cmp"
	"container/heap"
	"slices"
	"sync"
	"time"

	"github.com/palisade-go/palisade/coordinator"
)

const (
	// surveyKept is how long what was found is shown to whoever asks.
	surveyKept = 2 * time.Second
	// listed is how many keys each order of the list of leases has.
	listed = 1000
	// headOfLine is how many waiters of a queue a list shows.
	headOfLine = 5
)

// order is one in which leases are listed: what comes first.
type order struct {
	name string
	less func(a, b *coordinator.KeyState) bool
}

// orders are all; the first is the default.
var orders = []order{
	{"waiters", func(a, b *coordinator.KeyState) bool {
		if a.Waiters != b.Waiters {
			return a.Waiters > b.Waiters
		}
		return a.Remaining < b.Remaining
	}},
	{"remaining", func(a, b *coordinator.KeyState) bool { return a.Remaining < b.Remaining }},
	{"age", func(a, b *coordinator.KeyState) bool { return a.Holder.Since.Before(b.Holder.Since) }},
	{"key", func(a, b *coordinator.KeyState) bool { return a.Key < b.Key }},
}

// survey goes over all keys, for all who look.
type survey struct {
	mu    sync.Mutex // held while one goes on: the others wait for it
	found *findings
}

// findings are what a survey has found. They are not changed.
type findings struct {
	at     time.Time
	took   time.Duration
	leases map[string][]coordinator.KeyState // by order; the first of each
	queues []coordinator.KeyState            // the longest first, also of keys that nobody holds
}

// of returns what was found a moment ago, or looks anew.
func (s *survey) of(c *coordinator.Coordinator) *findings {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.found; f != nil {
		if age := time.Since(f.at); age < max(surveyKept, 10*f.took) {
			return f
		}
	}
	s.found = look(c)
	return s.found
}

// look goes over all keys.
func look(c *coordinator.Coordinator) *findings {
	began := time.Now()
	firsts := make([]first, len(orders))
	for i, o := range orders {
		firsts[i].less = o.less
	}
	queues := first{less: func(a, b *coordinator.KeyState) bool {
		if a.Waiters != b.Waiters {
			return a.Waiters > b.Waiters
		}
		return a.Key < b.Key
	}}
	for k := range c.Keys(headOfLine) {
		if k.Holder != nil {
			for i := range firsts {
				firsts[i].offer(&k, listed)
			}
		}
		if k.Waiters > 0 {
			queues.offer(&k, queuesShown)
		}
	}
	f := &findings{at: began, leases: make(map[string][]coordinator.KeyState, len(orders)), queues: queues.sorted()}
	for i, o := range orders {
		f.leases[o.name] = firsts[i].sorted()
	}
	f.took = time.Since(began)
	return f
}

// first keeps those of many keys that come first in an order. As a heap it has the
// last of them on top.
type first struct {
	keys []coordinator.KeyState
	less func(a, b *coordinator.KeyState) bool
}

// offer takes a key if it comes before the last of most.
func (f *first) offer(k *coordinator.KeyState, most int) {
	switch {
	case len(f.keys) < most:
		heap.Push(f, *k)
	case f.less(k, &f.keys[0]):
		f.keys[0] = *k
		heap.Fix(f, 0)
	}
}

// sorted returns what was kept, and ends the heap.
func (f *first) sorted() []coordinator.KeyState {
	slices.SortStableFunc(f.keys, func(a, b coordinator.KeyState) int {
		switch {
		case f.less(&a, &b):
			return -1
		case f.less(&b, &a):
			return 1
		}
		return cmp.Compare(a.Key, b.Key)
	})
	return f.keys
}

// The methods of heap.Interface.

func (f *first) Len() int           { return len(f.keys) }
func (f *first) Less(i, j int) bool { return f.less(&f.keys[j], &f.keys[i]) }
func (f *first) Swap(i, j int)      { f.keys[i], f.keys[j] = f.keys[j], f.keys[i] }
func (f *first) Push(k any)         { f.keys = append(f.keys, k.(coordinator.KeyState)) }
func (f *first) Pop() any           { panic("nothing is taken from it") }
