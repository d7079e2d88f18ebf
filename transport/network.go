package transport

import (
	"context"
	"fmt"
	"io"
)

// FrameBytesMax is the greatest length of a frame in bytes. A receiver checks
// a length that comes from the wire against it before it allocates.
const FrameBytesMax = 64 << 20

// Network is where nodes listen and dial. Its methods are safe for concurrent
// use.
type Network interface {
	// Listen begins to receive at addr and returns at once; h must be ready.
	// Errors: ErrAddressInUse, ErrInvalid, ErrClosed.
	//
	// Close of the result breaks the links that have reached this listener
	// and loses the frames they hold, then waits until no Receive runs. After
	// it returned none begins, and the address can be listened on again. It
	// must not be called from Receive, which it would wait for. A second Close
	// waits alike.
	Listen(addr string, h Handler) (io.Closer, error)

	// Dial opens a link from one address to another. It waits for the
	// listener's answer until ctx ends; ctx does not bound the link. from is
	// the caller's own address; nobody needs to listen there, and a network
	// that can verify it does.
	//
	// Errors: ErrUnreachable when there is no way or no listener, ErrRefused
	// when one of the two nodes does not want the other, the context's error,
	// ErrInvalid, ErrClosed. The caller has to Close the link.
	Dial(ctx context.Context, from, to string, kind Kind) (Link, error)
}

// Handler receives what other nodes send.
type Handler interface {
	// Receive takes one frame. It is called for the frames of one link in the
	// order they were sent, never concurrently for one link, but concurrently
	// for different links. While it blocks, its link does not move on.
	//
	// from is the sender as it was judged when it dialled, the same for all
	// frames of a link. frame belongs to the handler. An error breaks the
	// link: the frames behind this one are lost, and the sender learns by a
	// later Send that it broke, not why.
	Receive(from Peer, kind Kind, frame []byte) error
}

// Link is the sending end of a link. Its methods are safe for concurrent use.
type Link interface {
	// Send gives a frame of 0 to FrameBytesMax bytes to the link, which does
	// not keep the slice after the return. It blocks only for back-pressure,
	// until there is room or the link ends; it does not wait for the
	// receiver. Frames of one caller arrive in the order of its calls.
	//
	// nil does not mean that the frame arrived. Any error means that the link
	// is of no more use and this frame will not arrive whole: ErrBroken,
	// ErrInvalid for a frame that is too long (which breaks the link as well),
	// ErrClosed after Close.
	Send(frame []byte) error

	// Close ends the link; a blocked Send returns ErrClosed. Frames that Send
	// has accepted are still delivered in the background unless the link
	// breaks. It does not wait for that. A second Close, and the Close of a
	// broken link, return nil.
	Close() error
}

// checkListen judges the arguments of Listen.
func checkListen(addr string, h Handler) error {
	switch {
	case addr == "":
		return fmt.Errorf("%w: listen: the address is empty", ErrInvalid)
	case h == nil:
		return fmt.Errorf("%w: listen at %q: the handler is nil", ErrInvalid, addr)
	}
	return nil
}

// checkDial judges the arguments of Dial.
func checkDial(from, to string, kind Kind) error {
	switch {
	case from == "":
		return fmt.Errorf("%w: dial to %q: the caller's own address is empty", ErrInvalid, to)
	case to == "":
		return fmt.Errorf("%w: dial from %q: the address to dial is empty", ErrInvalid, from)
	case !kind.Valid():
		return fmt.Errorf("%w: dial from %q to %q: no such kind of link: %s", ErrInvalid, from, to, kind)
	}
	return nil
}

// checkFrame judges the argument of Send.
func checkFrame(frame []byte) error {
	if len(frame) > FrameBytesMax {
		return fmt.Errorf("%w: frame of %d bytes, at most %d are allowed", ErrInvalid, len(frame), FrameBytesMax)
	}
	return nil
}
