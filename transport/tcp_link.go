package transport

import (
	"bufio"
	"fmt"
	"sync"
	"time"
)

// tcpLink is the sending end of a link of a TCP: a bounded queue between the
// senders and one goroutine that writes, and one goroutine that watches for
// the end of the connection.
//
//	open --Close--> closed --queue empty--> the connection is ended in order
//	  |                |
//	  +----fail--------+------------------> it is closed, the queue is lost
type tcpLink struct {
	session *session
	stall   time.Duration
	way     direction

	mu      sync.Mutex
	changed *sync.Cond // on mu: room, a frame, closed or err
	queue   [][]byte
	bytes   int // sum of the lengths in queue and of the frame being written
	closed  bool
	err     error // why the link is broken; nil while it is not
}

func newTCPLink(s *session, way direction, stall time.Duration) *tcpLink {
	l := &tcpLink{session: s, way: way, stall: stall}
	l.changed = sync.NewCond(&l.mu)
	return l
}

// Send implements Link.
func (l *tcpLink) Send(frame []byte) error {
	if err := checkFrame(frame); err != nil {
		l.fail("a frame was too long")
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if err := l.endedLocked(); err != nil {
			return err
		}
		if len(l.queue) < queueFramesMax && l.bytes+len(frame) <= queueBytesMax {
			break
		}
		l.changed.Wait()
	}
	l.queue = append(l.queue, append([]byte{}, frame...))
	l.bytes += len(frame)
	l.changed.Broadcast()
	return nil
}

// Close implements Link.
func (l *tcpLink) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.changed.Broadcast()
	return nil
}

// fail breaks the link: senders get ErrBroken, the queue is lost, and both
// goroutines end. Only the first reason counts.
func (l *tcpLink) fail(reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	l.err = fmt.Errorf("%w: from %q to %q (%s): %s", ErrBroken, l.way.from, l.way.to, l.session.kind, reason)
	l.queue, l.bytes = nil, 0
	l.session.raw.Close()
	l.changed.Broadcast()
}

// endedLocked returns why no more frames are taken, nil if they are.
func (l *tcpLink) endedLocked() error {
	if l.closed {
		return fmt.Errorf("%w: link from %q to %q (%s)", ErrClosed, l.way.from, l.way.to, l.session.kind)
	}
	return l.err
}

// watch returns when the connection has ended, and breaks the link. Without it
// a link with nothing to send would not notice.
func (l *tcpLink) watch() {
	_, err := l.session.frames.in.ReadByte()
	switch {
	case err == nil:
		l.fail("the peer sent what it must not")
	default:
		l.fail("the peer ended it: " + err.Error())
	}
}

// write sends what is queued until the link is broken, or closed and empty.
func (l *tcpLink) write() {
	out := bufio.NewWriterSize(&steadyWriter{conn: l.session.conn, stall: l.stall}, steadyBytes)
	for {
		frame, state := l.next(out.Buffered() > 0)
		var err error
		switch state {
		case linkHasFrame:
			header := frameHeader(frame)
			_, err = out.Write(header[:])
			if err == nil {
				_, err = out.Write(frame)
			}
			l.written(len(frame))
		case linkIsIdle:
			err = out.Flush()
		case linkIsClosed:
			// In order: TLS says goodbye, and what the system still holds is
			// sent before the end.
			l.session.conn.Close()
			return
		case linkIsBroken:
			return
		}
		if err != nil {
			l.fail("writing: " + err.Error())
			return
		}
	}
}

// linkState is what the writer has to do next.
type linkState int

const (
	linkHasFrame linkState = iota
	linkIsIdle             // nothing is queued; only told to who asks
	linkIsClosed           // and the queue is empty
	linkIsBroken
)

// next takes the first frame of the queue, or waits for one. With tellIdle it
// does not wait.
func (l *tcpLink) next(tellIdle bool) ([]byte, linkState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		switch {
		case l.err != nil:
			return nil, linkIsBroken
		case len(l.queue) > 0:
			frame := l.queue[0]
			l.queue[0] = nil
			l.queue = l.queue[1:]
			l.changed.Broadcast()
			return frame, linkHasFrame
		case tellIdle:
			return nil, linkIsIdle
		case l.closed:
			return nil, linkIsClosed
		}
		l.changed.Wait()
	}
}

// written makes room for the next frames.
func (l *tcpLink) written(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.bytes -= n
		l.changed.Broadcast()
	}
}
