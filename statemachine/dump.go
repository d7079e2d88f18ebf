package statemachine

import (
	"bufio"
	"fmt"
	"io"
)

// Dump writes the whole state as text: one line a thing, sorted, what is zero
// left out. Equal states give equal text. The error is that of w. It costs
// O(state × log state).
func (m *Machine) Dump(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "meta group=%d applied=%d epoch=%d counter=%d version=%d place=%d\n",
		m.group, m.meta.Applied, m.meta.Epoch, m.meta.Counter, m.meta.Version, m.meta.Place)
	var l line
	for _, p := range m.members {
		l.presence(p.presence)
		l.flush(out)
	}
	for _, o := range m.owners() {
		for _, r := range o.bySeq() {
			l.request(r)
			l.flush(out)
		}
	}
	for _, front := range m.sortedKeys() {
		l.key(front)
		l.flush(out)
	}
	return out.Flush()
}

// line is a line of text in the making.
type line []byte

func (l *line) add(format string, args ...any) { *l = fmt.Appendf(*l, format, args...) }

// opt adds to the line only if present.
func (l *line) opt(present bool, format string, args ...any) {
	if present {
		l.add(format, args...)
	}
}

// flush writes the line and begins a new one. An error of out comes again when
// out is flushed.
func (l *line) flush(out *bufio.Writer) {
	_, _ = out.Write(append(*l, '\n'))
	*l = (*l)[:0]
}

func (l *line) presence(p Presence) {
	if p.Incarnation == 0 {
		l.add("presence %d not announced", p.Node)
		return
	}
	l.add("presence %d incarnation=%d last=%d speaks=%d directory=%v",
		p.Node, p.Incarnation, p.Last, p.Speaks, p.Directory)
	l.opt(p.Left, " left")
	l.opt(p.Wall != 0, " wall=%d", p.Wall)
}

func (l *line) request(r *request) {
	if r.phase == held {
		l.add("lease %v token=%d last=%d", r.id(), uint64(r.token), r.last)
	} else {
		l.add("wait %v", r.id())
	}
	l.add(" place=%d ttl=%v", r.place, r.ttl())
	for _, s := range r.claims() {
		l.add(" %q", s.name)
	}
	t := r.told()
	l.opt(t.limit != 0, " limit=%v", t.limit)
	l.opt(r.since != 0, " since=%d", r.since)
	l.opt(t.requestID != "", " request=%q", t.requestID)
	l.opt(t.metadata != "", " metadata=%q", t.metadata)
}

func (l *line) key(front *stand) {
	l.add("key %q", front.name)
	if front.isHeld() {
		l.add(" holder=%v", front.request.id())
	} else {
		l.add(" not held")
	}
	l.opt(front.waiters > 0, " waiters")
	for s := front.head(); s != nil; s = s.next {
		l.add(" %v", s.request.id())
	}
}
