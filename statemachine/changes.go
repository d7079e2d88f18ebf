package statemachine

import (
	"bytes"
	"slices"
)

// changes is what the image lacks. A request is in it while its record there
// differs from its state; one that came and went in between leaves it without
// a trace, so it is bounded by what the machine and the image have, whether or
// not anybody takes the changes.
type changes struct {
	meta      bool
	presences []*member
	requests  []*request // in no order; request.change is the position plus one
}

func (c *changes) presence(p *member) {
	if !p.changed {
		p.changed = true
		c.presences = append(c.presences, p)
	}
}

func (c *changes) request(r *request) {
	if r.phase == over && r.stored == 0 {
		c.drop(r)
		return
	}
	if r.change == 0 {
		c.requests = append(c.requests, r)
		r.change = int32(len(c.requests))
	}
}

// drop takes r out by putting the last one in its stead.
func (c *changes) drop(r *request) {
	end := len(c.requests) - 1
	last := c.requests[end]
	c.requests[r.change-1] = last
	last.change = r.change
	c.requests[end] = nil
	c.requests = c.requests[:end]
	r.change = 0
}

// TakeChanges returns the records that changed since the last call, sorted by
// key, one a key; a nil value deletes. They turn the image as of that call
// into the image as of this one. After New the first call returns everything;
// after Load nothing counts as changed. After Apply or Skip there is always at
// least the record of the meta. The records belong to the caller. It costs
// what changed, not what the machine has.
func (m *Machine) TakeChanges() []Record {
	c := &m.changes
	records := make([]Record, 0, 1+len(c.presences)+len(c.requests))
	rw := newRecordWriter(c.bytes())
	defer rw.close()
	if c.meta {
		c.meta = false
		records = append(records, rw.meta(metaValue{m.meta, m.group}))
	}
	for i, p := range c.presences {
		p.changed = false
		c.presences[i] = nil
		records = append(records, rw.presence(p.presence))
	}
	c.presences = c.presences[:0]
	for i, r := range c.requests {
		r.change = 0
		c.requests[i] = nil
		records = r.appendChange(records, rw)
	}
	c.requests = c.requests[:0]
	if cap(c.requests) > tableShrinkMin {
		c.requests = nil
	}
	slices.SortFunc(records, func(a, b Record) int {
		if order := bytes.Compare(a.Key, b.Key); order != 0 {
			return order
		}
		// A seq that ended and was used anew: its new record stays.
		return len(b.Value) - len(a.Value)
	})
	return slices.CompactFunc(records, func(a, b Record) bool { return bytes.Equal(a.Key, b.Key) })
}

// bytes returns about how many bytes the records of the changes take.
func (c *changes) bytes() int {
	const key, value = 26, 80
	bytes := (1 + len(c.presences) + len(c.requests)) * key
	for _, r := range c.requests {
		if r.phase != over {
			bytes += value
		}
	}
	return bytes + (1+len(c.presences))*value
}

// appendChange appends what turns the image's record of r into its state.
func (r *request) appendChange(records []Record, rw *recordWriter) []Record {
	kind := r.kind()
	if r.stored != 0 && r.stored != kind {
		records = append(records, rw.none(r.stored, r.id()))
	}
	r.stored = kind
	if kind != 0 {
		records = append(records, rw.request(r))
	}
	return records
}

// kind is the kind of the record that r's state needs; 0: none.
func (r *request) kind() recordKind {
	switch r.phase {
	case waiting:
		return recordWait
	case held:
		return recordLease
	}
	return 0
}
