package statemachine

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// owner is what one incarnation of a node has in the group.
type owner struct {
	member      *member
	incarnation Incarnation
	requests    table[Seq, *request]
	buckets     []*bucket // none is empty; by rising TTL
}

// bucket holds the requests of one owner that have the same TTL, by rising
// Place. An Expire ends whole buckets from their old end, so it never walks
// over requests that it does not end.
type bucket struct {
	owner      *owner
	ttl        time.Duration
	head, tail *request // head is the oldest
}

// add puts r, which is younger than all that the owner has, under its seq.
func (o *owner) add(r *request, ttl time.Duration) {
	r.bucket = o.bucket(ttl)
	o.link(r)
}

// bucket returns the bucket of a TTL, which from here on has a request.
func (o *owner) bucket(ttl time.Duration) *bucket {
	i, found := o.search(ttl)
	if !found {
		o.buckets = slices.Insert(o.buckets, i, &bucket{owner: o, ttl: ttl})
	}
	return o.buckets[i]
}

// link puts r at the young end of its bucket, under its seq.
func (o *owner) link(r *request) {
	b := r.bucket
	r.prev = b.tail
	if b.tail == nil {
		b.head = r
	} else {
		b.tail.next = r
	}
	b.tail = r
	o.requests.put(r.seq, r)
}

// remove takes r out. r keeps its bucket, because its id is still needed for
// the deletion of its record.
func (o *owner) remove(r *request) {
	b := r.bucket
	if r.prev == nil {
		b.head = r.next
	} else {
		r.prev.next = r.next
	}
	if r.next == nil {
		b.tail = r.prev
	} else {
		r.next.prev = r.prev
	}
	r.prev, r.next = nil, nil
	if b.head == nil {
		i, _ := o.search(b.ttl)
		o.buckets = slices.Delete(o.buckets, i, i+1)
	}
	o.requests.remove(r.seq)
}

func (o *owner) search(ttl time.Duration) (int, bool) {
	return slices.BinarySearchFunc(o.buckets, ttl, func(b *bucket, ttl time.Duration) int {
		return cmp.Compare(b.ttl, ttl)
	})
}

// upTo returns the buckets of requests with a TTL of at most ttl.
func (o *owner) upTo(ttl time.Duration) []*bucket {
	i, found := o.search(ttl)
	if found {
		i++
	}
	return o.buckets[:i]
}

// slice returns the oldest requests of the buckets, at most SliceMax, by
// rising Place. It costs O(buckets + requests returned × log buckets).
func slice(buckets []*bucket) []*request {
	heads := make(requestHeap, 0, len(buckets))
	for _, b := range buckets {
		heads = append(heads, b.head)
	}
	heap.Init(&heads)
	var oldest []*request
	for len(heads) > 0 && len(oldest) < SliceMax {
		r := heads[0]
		oldest = append(oldest, r)
		if r.next == nil {
			heap.Pop(&heads)
			continue
		}
		heads[0] = r.next
		heap.Fix(&heads, 0)
	}
	return oldest
}

// requestHeap orders requests by Place, the oldest first.
type requestHeap []*request

func (h requestHeap) Len() int           { return len(h) }
func (h requestHeap) Less(i, j int) bool { return h[i].place < h[j].place }
func (h requestHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *requestHeap) Push(r any)        { *h = append(*h, r.(*request)) }
func (h *requestHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
