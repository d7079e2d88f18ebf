package coordinator

import (
	"context"
	"fmt"
)

// A nil lease is lost: a nil *ownership answers every question that way.

// errNil is the end of a lease that never was.
var errNil = fmt.Errorf("%w: there is no lease (nil)", ErrLeaseLost)

// closedChan was closed from the start.
var closedChan = func() chan struct{} {
	ch := make(chan struct{})
	close(ch)
	return ch
}()

func (o *ownership) context() context.Context {
	if o == nil {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(errNil)
		return ctx
	}
	return o.ctx
}

func (o *ownership) ended() <-chan struct{} {
	if o == nil {
		return closedChan
	}
	return o.done
}

func (o *ownership) alarm() <-chan struct{} {
	if o == nil {
		return closedChan
	}
	return o.endangered
}
