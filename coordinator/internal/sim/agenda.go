package sim

import "time"

// happening is something that is due at a true time.
type happening struct {
	at    time.Duration
	order int
	do    func()
}

// agenda is all that is going to happen, as a heap: the earliest first, and
// what is due at the same time in the order in which it was planned.
type agenda []happening

func (a agenda) Len() int      { return len(a) }
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

func (a agenda) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].order < a[j].order
}

func (a *agenda) Push(x any) { *a = append(*a, x.(happening)) }

func (a *agenda) Pop() any {
	last := len(*a) - 1
	h := (*a)[last]
	(*a)[last] = happening{} // keeps no pointer to what has happened
	*a = (*a)[:last]
	return h
}
