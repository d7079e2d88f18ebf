package keeper

import "container/heap"

// limits holds the leases with a limit, the one that ends first on top. Each
// entry knows its place, so that a released lease leaves at once.
type limits []*entry

func (l limits) Len() int           { return len(l) }
func (l limits) Less(i, j int) bool { return l[i].end < l[j].end }
func (l limits) Swap(i, j int) {
	l[i], l[j] = l[j], l[i]
	l[i].place, l[j].place = i, j
}

// Push implements heap.Interface.
func (l *limits) Push(x any) {
	e := x.(*entry)
	e.place = len(*l)
	*l = append(*l, e)
}

// Pop implements heap.Interface.
func (l *limits) Pop() any {
	last := len(*l) - 1
	e := (*l)[last]
	(*l)[last] = nil
	*l = (*l)[:last]
	return e
}

func (l *limits) insert(e *entry) { heap.Push(l, e) }
func (l *limits) remove(e *entry) { heap.Remove(l, e.place) }
