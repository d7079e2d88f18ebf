package keeper

import "container/heap"

// limits holds the leases with a limit, the one that ends first on top. Each
// knows its place, so that a released lease leaves at once.
type limits []*limited

func (l limits) Len() int           { return len(l) }
func (l limits) Less(i, j int) bool { return l[i].end < l[j].end }
func (l limits) Swap(i, j int) {
	l[i], l[j] = l[j], l[i]
	l[i].place, l[j].place = i, j
}

// Push implements heap.Interface.
func (l *limits) Push(x any) {
	held := x.(*limited)
	held.place = len(*l)
	*l = append(*l, held)
}

// Pop implements heap.Interface.
func (l *limits) Pop() any {
	last := len(*l) - 1
	held := (*l)[last]
	(*l)[last] = nil
	*l = (*l)[:last]
	return held
}

func (l *limits) insert(held *limited) { heap.Push(l, held) }
func (l *limits) remove(held *limited) { heap.Remove(l, held.place) }
