package dashboard

// ring keeps the last values that were added.
type ring[T any] struct {
	values []T
	size   int
	next   int // where the next one goes, once there are size of them
}

func newRing[T any](size int) ring[T] { return ring[T]{size: size} }

func (r *ring[T]) add(v T) {
	if len(r.values) < r.size {
		r.values = append(r.values, v)
		return
	}
	r.values[r.next] = v
	r.next = (r.next + 1) % r.size
}

// each calls fn with the values, the newest first, until it returns false. They may
// be changed.
func (r *ring[T]) each(fn func(*T) bool) {
	for i := range r.values {
		if !fn(&r.values[(r.next+2*len(r.values)-1-i)%len(r.values)]) {
			return
		}
	}
}

// newest returns copies of the values, the newest first.
func (r *ring[T]) newest() []T {
	all := make([]T, 0, len(r.values))
	r.each(func(v *T) bool {
		all = append(all, *v)
		return true
	})
	return all
}
