package torture

import (
	"context"
	"errors"
	"fmt"

	"github.com/palisade-go/palisade/coordinator"
)

// judge says whether an acquire failed as it may. errLeft is the only error
// that it returns.
func (w *worker) judge(ctx context.Context, try bool, err error) error {
	var typed *coordinator.Error
	n := w.crew.node.node
	switch {
	case !errors.As(err, &typed):
		w.report("an error without an outcome: %v", err)
	case errors.Is(err, coordinator.ErrClosed):
		if w.crew.leaving.Load() {
			return errLeft
		}
		w.report("closed, and nobody has closed it: %v; the node says %v", err, n.Status().Err)
		return errLeft
	case errors.Is(err, coordinator.ErrBusy):
		if !try || typed.Outcome == coordinator.Applied {
			w.report("%s: busy, with outcome %v: %v", typed.Op, typed.Outcome, err)
		}
	case errors.Is(err, coordinator.ErrUnavailable):
		if typed.Outcome == coordinator.Applied {
			w.report("unavailable, and applied: %v", err)
		}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		if ctx.Err() == nil {
			w.report("the context's error, and the context has not ended: %v", err)
		}
	case errors.Is(err, coordinator.ErrLeaseLost):
	default:
		w.report("an error that the method does not name: %v", err)
	}
	return nil
}

func outcomeOf(err error) coordinator.Outcome {
	var typed *coordinator.Error
	if errors.As(err, &typed) {
		return typed.Outcome
	}
	return coordinator.Applied
}

// report tells the parent what is wrong.
func (w *worker) report(format string, args ...any) {
	what := fmt.Sprintf("node %d, worker %d: ", w.crew.node.number, w.number) + fmt.Sprintf(format, args...)
	if err := w.crew.node.register.Call("Register.Report", what, &Nothing{}); err != nil {
		complain(fmt.Errorf("%s; and the parent can't be told: %w", what, err))
	}
}
