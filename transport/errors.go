package transport

import "errors"

var (
	// ErrInvalid says that an argument is not allowed: an empty address, an
	// unknown kind, a nil handler, a frame above FrameBytesMax.
	ErrInvalid = errors.New("transport: invalid")
	// ErrAddressInUse says that the address has a listener, or one that is
	// still closing.
	ErrAddressInUse = errors.New("transport: address in use")
	// ErrUnreachable says that a dial found no way to a listener.
	ErrUnreachable = errors.New("transport: unreachable")
	// ErrRefused says that a dial found a node that would not have the link,
	// or that this side would not have. See RefusedError.
	ErrRefused = errors.New("transport: refused")
	// ErrBroken says that a link has ended by other means than its Close.
	ErrBroken = errors.New("transport: link broken")
	// ErrClosed says that the caller's side has closed the link or the
	// network before.
	ErrClosed = errors.New("transport: closed")
)
