package coordinator

import (
	"context"
	"fmt"
)

// A nil lease is lost: a nil *handle and a nil *ownership answer every
// question that way.

// errNil is the end of a lease that never was.
var errNil = fmt.Errorf("%w: there is no lease (nil)", ErrLeaseLost)

// closedChan was closed from the start.
var closedChan = func() chan struct{} {
	ch := make(chan struct{})
	close(ch)
	return ch
}()

// neverHeld returns a context that has ended.
func neverHeld() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errNil)
	return ctx
}
