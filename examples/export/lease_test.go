package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/token"
)

// errGone is why the lease of a test is lost.
var errGone = fmt.Errorf("%w: a test took it", coordinator.ErrLeaseLost)

// testLease is a lease that is held until it is told otherwise.
type testLease struct {
	token   token.Token
	ensured []time.Duration // what was asked of Ensure
	gone    atomic.Bool
	end     context.CancelCauseFunc // of what Bind returned
}

func newLease(t token.Token) *testLease { return &testLease{token: t} }

func (l *testLease) Token() token.Token { return l.token }

func (l *testLease) Err() error {
	if l.gone.Load() {
		return errGone
	}
	return nil
}

func (l *testLease) Ensure(ctx context.Context, d time.Duration) error {
	l.ensured = append(l.ensured, d)
	return errors.Join(l.Err(), ctx.Err())
}

func (l *testLease) Bind(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(parent)
	l.end = end
	return ctx, func() { end(nil) }
}

// lose takes the lease away. It is bound already.
func (l *testLease) lose() {
	l.gone.Store(true)
	l.end(errGone)
}
