package transport

import (
	"errors"
	"io"
	"net"
)

// inlet is the receiving end of a link: one goroutine that reads a frame and
// hands it over, one after the other. While Receive blocks nothing is read, so
// the sender meets the back-pressure of TCP.
type inlet struct {
	session  *session
	listener *tcpListener
}

// run delivers until the link ends or the listener closes.
func (in *inlet) run() {
	s, ln := in.session, in.listener
	s.frames.conn, s.frames.stall = s.conn, ln.network.cfg.Stall
	for {
		frame, err := s.frames.next(FrameBytesMax)
		// What was read before the listener began to close is lost with the
		// link, or closing would have to wait for it all.
		if ln.ending.Err() != nil || ended(err) {
			return
		}
		if err != nil {
			ln.network.warn("frame", "a link was broken by what came over it", "listener", ln.addr, "peer", s.peer, "kind", s.kind, "err", err)
			return
		}
		if err := ln.handler.Receive(s.peer, s.kind, frame); err != nil {
			ln.network.warn("receive", "a link was broken by its receiver", "listener", ln.addr, "peer", s.peer, "kind", s.kind, "err", err)
			return
		}
	}
}

// ended says whether a link has ended by its sender or on its way, which is
// nothing to tell.
func ended(err error) bool {
	var broken *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &broken) && !broken.Timeout()
}
