package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/palisade-go/palisade/token"
)

// lease is what the job needs of its *coordinator.Lease.
type lease interface {
	Token() token.Token
	Err() error
	Ensure(ctx context.Context, d time.Duration) error
	Bind(parent context.Context) (context.Context, context.CancelFunc)
}

// job exports a month: it writes pages of invoices, a step each. It remembers
// nothing from one step to the next but the page before, so any owner of the
// month's lease can go on where another one was stopped.
//
// This is the part to copy. Three things bound what a late owner can do:
//
//	the lease      ends the loop soon after it is lost, so that little is done
//	               in vain. It can't keep a process that was stopped from writing.
//	the token      keeps it out: the database refuses the write of an owner
//	               after whom another one has come
//	the operation  tells what is done, where the token would allow it again
type job struct {
	ledger *ledger
	fence  fence
	month  string
	// stepTime bounds a step. The lease is renewed, if need be, to last longer
	// than that before each step, so that a step that keeps to its time is not
	// begun in vain.
	stepTime time.Duration
	// work stands for what takes long: rendering, signing, asking a service. It
	// has to end when its context does.
	work func(context.Context, page) error
	// look is called before the last look at the lease. The story stops
	// processes there.
	look func(page)
	// done is told of each step.
	done func(page, token.Receipt)
}

// resourceOf names the pages of a month, and the key of the lease under which
// they are written. Each month has a lease, so its tokens are compared with
// each other and with no others.
func resourceOf(month string) string { return "export of " + month }

// errStepTime is why the context of a step has ended that took too long.
var errStepTime = errors.New("the step took longer than it may")

// run exports the month, from its first page on. Steps that are done already,
// of the same orders, are answered by the fence and not done again. When it
// returns nil, each order that was there when it read the last page has its
// invoice. After an error the pages that are written stay, and the next owner
// goes on from there; the error has coordinator.ErrLeaseLost if the lease was
// lost, token.ErrStale if a later owner was here, token.ErrUnknown if a page
// may be written and may not.
func (j *job) run(ctx context.Context, l lease) error {
	ctx, cancel := l.Bind(ctx)
	defer cancel()
	// Before anything is read: from here on no owner before this one can change
	// what it reads.
	err := j.fence.Accept(ctx, token.Write{Resource: resourceOf(j.month), Token: l.Token()})
	if err != nil {
		return because(ctx, fmt.Errorf("accept: %w", err))
	}
	last := page{month: j.month}
	for more := true; more; {
		if last, more, err = j.step(ctx, l, last); err != nil {
			return err
		}
	}
	return nil
}

// step writes the page after the one before, and says whether more may follow.
func (j *job) step(ctx context.Context, l lease, before page) (_ page, more bool, err error) {
	number := before.step + 1
	defer func() {
		if err != nil {
			err = fmt.Errorf("step %d: %w", number, err)
		}
	}()

	// 1. Is there time for a whole step? A lost lease has none.
	if err := l.Ensure(ctx, j.stepTime); err != nil {
		return page{}, false, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, j.stepTime, errStepTime)
	defer cancel()

	// 2. The work, outside of a transaction: one that is open while the work
	// goes on, or while the process is stopped, holds up everybody else.
	orders, err := j.ledger.after(ctx, before)
	if err != nil {
		return page{}, false, because(ctx, fmt.Errorf("read the orders: %w", err))
	}
	if len(orders) == 0 {
		return before, false, nil
	}
	next := before.next(orders)
	if err := j.work(ctx, next); err != nil {
		return page{}, false, because(ctx, fmt.Errorf("work: %w", err))
	}

	// 3. The last look. It only saves a transaction that would be refused: the
	// process can be stopped after it as well as before.
	j.look(next)
	if err := l.Err(); err != nil {
		return page{}, false, err
	}

	// 4. The page, with the token and the operation, at once.
	receipt, err := j.commit(ctx, l.Token(), next)
	if err != nil {
		return page{}, false, because(ctx, fmt.Errorf("write: %w", err))
	}
	j.done(next, receipt)
	return next, next.full(), nil
}

// commitsMax is how often a step is presented to the fence at most, if the
// answer gets lost.
const commitsMax = 3

// commit writes a page. If the answer was lost it asks again, with the same
// operation: the fence then tells what became of it, and does it if it was not
// done.
func (j *job) commit(ctx context.Context, t token.Token, p page) (token.Receipt, error) {
	w := token.Write{Resource: resourceOf(j.month), Token: t, Operation: p.operation()}
	var unknown error
	for range commitsMax {
		receipt, err := j.fence.Do(ctx, w, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
			return j.ledger.write(ctx, tx, p)
		})
		switch {
		case errors.Is(err, token.ErrUnknown):
			unknown = err
		case err == nil, errors.Is(err, token.ErrStale):
			return receipt, err // either tells: it is done, or it was not and will not be
		default:
			return receipt, errors.Join(unknown, err)
		}
	}
	return token.Receipt{}, unknown
}

// because adds to an error why the context has ended, if it has: the lease was
// lost, the step took too long, or the program stops.
func because(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if cause == nil || errors.Is(err, cause) {
		return err
	}
	return fmt.Errorf("%w: %w", cause, err)
}
