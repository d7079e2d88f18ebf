package statemachine

// tableShrinkMin is the size up to which a table is never rebuilt.
const tableShrinkMin = 1024

// table is a map that gives memory back. A Go map keeps the room of its
// largest size for ever, but a key that is free and a request that is over
// must leave nothing behind. A table is rebuilt when it is down to an eighth of
// its peak: that copies at most a seventh of an entry for each one deleted.
type table[K comparable, V any] struct {
	entries map[K]V
	peak    int // largest size since the last rebuild
}

func (t *table[K, V]) get(k K) (V, bool) {
	v, ok := t.entries[k]
	return v, ok
}

// reserve makes room for n entries in an empty table. If they do not come, the
// room goes with the first removal.
func (t *table[K, V]) reserve(n int) { t.entries, t.peak = make(map[K]V, n), n }

func (t *table[K, V]) put(k K, v V) {
	if t.entries == nil {
		t.entries = make(map[K]V)
	}
	t.entries[k] = v
	t.peak = max(t.peak, len(t.entries))
}

func (t *table[K, V]) remove(k K) {
	delete(t.entries, k)
	if t.peak <= tableShrinkMin || len(t.entries) > t.peak/8 {
		return
	}
	rebuilt := make(map[K]V, len(t.entries))
	for k, v := range t.entries {
		rebuilt[k] = v
	}
	t.entries, t.peak = rebuilt, len(rebuilt)
}

func (t *table[K, V]) size() int { return len(t.entries) }
