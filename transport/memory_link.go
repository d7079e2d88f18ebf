package transport

import (
	"bytes"
	"fmt"
	"sync"
	"time"
)

// What one link's queue holds at most. A frame that Receive has in hand is
// outside of it, so a link stays within 2*FrameBytesMax.
const (
	queueFramesMax = 1024
	queueBytesMax  = FrameBytesMax
)

// memoryLink is a link of a Memory: a bounded queue between the senders and
// one goroutine, run, that calls Receive.
//
//	open --Close--> closed --queue empty--> run ends
//	  |                |
//	  +----fail--------+------------------> run ends, the queue is lost
type memoryLink struct {
	direction direction
	kind      Kind
	peer      Peer // who dialled
	path      *path
	// broken is closed by fail, once. It cuts short a delay.
	broken chan struct{}

	mu      sync.Mutex
	changed *sync.Cond // on mu: room, a frame, closed or err
	queue   []queued
	bytes   int // sum of the lengths in queue
	closed  bool
	err     error // why the link is broken; nil while it is not
}

// queued is a frame on its way.
type queued struct {
	frame  []byte
	due    time.Time
	copies int // still to be delivered, 1 or 2
}

func newMemoryLink(d direction, kind Kind, peer Peer, p *path) *memoryLink {
	l := &memoryLink{direction: d, kind: kind, peer: peer, path: p, broken: make(chan struct{})}
	l.changed = sync.NewCond(&l.mu)
	return l
}

// Send implements Link.
func (l *memoryLink) Send(frame []byte) error {
	if err := checkFrame(frame); err != nil {
		l.fail("a frame was too long")
		return err
	}
	decided := l.path.draw()
	l.mu.Lock()
	defer l.mu.Unlock()
	if decided.vanishes {
		if err := l.endedLocked(); err != nil {
			return err
		}
		l.path.count(Stats{Sent: 1, Dropped: 1})
		return nil
	}
	for {
		if err := l.endedLocked(); err != nil {
			return err
		}
		if l.roomLocked(len(frame)) {
			break
		}
		l.changed.Wait()
	}
	// The delay begins here: while Send was blocked the frame was not on its way.
	l.queue = append(l.queue, queued{
		frame:  append([]byte{}, frame...),
		due:    time.Now().Add(decided.delay),
		copies: decided.copies,
	})
	l.bytes += len(frame)
	l.changed.Broadcast()
	counted := Stats{Sent: 1, Duplicated: uint64(decided.copies - 1)}
	if decided.delay > 0 {
		counted.Delayed = 1
	}
	l.path.count(counted)
	return nil
}

// Close implements Link.
func (l *memoryLink) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.changed.Broadcast()
	return nil
}

// fail breaks the link: senders get ErrBroken, the queue is lost, and run ends
// after the Receive that it may be in. Only the first reason counts; fail
// returns false if the link was broken already.
func (l *memoryLink) fail(reason string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return false
	}
	l.err = fmt.Errorf("%w: from %q to %q (%s): %s", ErrBroken, l.direction.from, l.direction.to, l.kind, reason)
	var lost uint64
	for _, item := range l.queue {
		lost += uint64(item.copies)
	}
	l.queue, l.bytes = nil, 0
	close(l.broken)
	l.changed.Broadcast()
	l.path.count(Stats{Dropped: lost})
	return true
}

// run delivers to h until the link is broken, or closed and empty.
func (l *memoryLink) run(h Handler) {
	for {
		due, ok := l.next()
		if !ok || !l.wait(due) {
			return
		}
		frame, ok := l.take()
		if !ok {
			return
		}
		if err := h.Receive(l.peer, l.kind, frame); err != nil {
			// The reason stays here: over a wire it would not reach the sender.
			l.fail("the receiver gave it up")
			return
		}
	}
}

// next waits for a frame and returns when the first one is due; false at the
// link's end.
func (l *memoryLink) next() (time.Time, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queue) == 0 && !l.closed && l.err == nil {
		l.changed.Wait()
	}
	if len(l.queue) == 0 {
		return time.Time{}, false
	}
	return l.queue[0].due, true
}

// wait returns true once due has come, false at once if the link breaks.
func (l *memoryLink) wait(due time.Time) bool {
	delay := time.Until(due)
	if delay <= 0 {
		return true
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.broken:
		return false
	}
}

// take removes the first frame, or one copy of it; false if the link has
// broken meanwhile. Each copy has its own memory, as each belongs to the
// handler.
func (l *memoryLink) take() ([]byte, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return nil, false
	}
	l.path.count(Stats{Delivered: 1})
	first := &l.queue[0]
	first.copies--
	if first.copies > 0 {
		return bytes.Clone(first.frame), true
	}
	frame := first.frame
	*first = queued{}
	l.queue = l.queue[1:]
	l.bytes -= len(frame)
	l.changed.Broadcast()
	return frame, true
}

// endedLocked returns why no more frames are taken, nil if they are.
func (l *memoryLink) endedLocked() error {
	if l.closed {
		return fmt.Errorf("%w: link from %q to %q (%s)", ErrClosed, l.direction.from, l.direction.to, l.kind)
	}
	return l.err
}

// roomLocked says whether the queue can take a frame of n bytes. An empty
// queue takes any.
func (l *memoryLink) roomLocked(n int) bool {
	return len(l.queue) < queueFramesMax && l.bytes+n <= queueBytesMax
}
