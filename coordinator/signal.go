package coordinator

import "context"

// signal is a channel that is closed once. It is made when somebody first asks
// for it: a channel takes about as much memory as all the rest of a lease, and
// few are waited on. Whoever has one guards it. The zero value is ready to use.
type signal struct{ ch chan struct{} }

// channel returns the channel.
func (s *signal) channel() <-chan struct{} {
	if s.ch == nil {
		s.ch = make(chan struct{})
	}
	return s.ch
}

// give closes the channel, unless it is closed already.
func (s *signal) give() {
	switch {
	case s.given():
	case s.ch == nil:
		s.ch = closedChan
	default:
		close(s.ch)
	}
}

// given reports whether the channel is closed.
func (s *signal) given() bool {
	select {
	case <-s.ch: // a nil one is never ready
		return true
	default:
		return false
	}
}

// scope is a context that ends with an ownership.
type scope struct {
	context.Context
	cancel context.CancelCauseFunc
}
