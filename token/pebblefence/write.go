package pebblefence

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/palisade-go/palisade/token"
)

// Do runs write and commits what it put into the batch, together with w's token
// as the greatest accepted and w's operation, if it has one. It waits for the
// resource's turn, which ctx ends; once write has returned nil, ctx is not
// looked at any more. It waits for the disk, and for the engine when that holds
// writers back, and ctx ends neither.
//
// The batch is indexed: write reads through it the data and what it wrote
// itself. It must not touch keys under the guard's prefix, nor commit, close,
// reset or keep the batch, nor call the guard for the same resource, which would
// wait for itself. What write reads was written under w's token or before only
// if the owner called Accept first or all that it reads belongs to w's resource.
//
// On success everything is on disk. If w's operation took effect before, write
// is not called and the first receipt is returned, with Repeated true and
// whatever w's token; a greater token is kept as the greatest all the same. On
// failure, also when write panics or exits the goroutine, nothing was written
// and nothing is remembered, except after token.ErrUnknown and ErrCommitted.
//
// Errors: write's own; token.ErrInvalid for w and for a nil write;
// *token.StaleError; the context's; ErrBatch, ErrCommitted, ErrTooLarge;
// ErrReplaced, ErrFailed, ErrDamaged, pebble.ErrClosed; token.ErrUnknown when
// the engine failed to commit and its logger's Fatalf returned; the engine's
// when it could not read. It costs one synced commit and four reads of the
// database, and two more when an operation is forgotten for the new one.
func (g *Guard) Do(
	ctx context.Context, w token.Write, write func(*pebble.Batch) ([]byte, error),
) (token.Receipt, error) {
	return g.write(ctx, w, w.Judge, write)
}

// DoOnce is Do for leases that allow one write each: it refuses a token that
// equals the greatest accepted as well, unless w's operation took effect before.
// Accept uses a token up.
func (g *Guard) DoOnce(
	ctx context.Context, w token.Write, write func(*pebble.Batch) ([]byte, error),
) (token.Receipt, error) {
	return g.write(ctx, w, w.JudgeOnce, write)
}

func (g *Guard) write(
	ctx context.Context, w token.Write, judge func(highest token.Token) error, write func(*pebble.Batch) ([]byte, error),
) (receipt token.Receipt, err error) {
	if err := w.Check(); err != nil {
		return token.Receipt{}, err
	}
	if write == nil {
		return token.Receipt{}, fmt.Errorf("%w: nil write for resource %.64q", token.ErrInvalid, w.Resource)
	}
	err = g.turn(ctx, w.Resource, func(f fence) error {
		known, found, err := g.operation(w, f)
		if err != nil {
			return err
		}
		if found {
			receipt = known.receipt()
			return g.raise(w, f)
		}
		if err := judge(f.highest); err != nil {
			return err
		}
		receipt, err = g.apply(w, f, write)
		return err
	})
	if err != nil {
		return token.Receipt{}, err
	}
	return receipt, nil
}

// operation returns what is remembered of w's operation.
func (g *Guard) operation(w token.Write, f fence) (operation, bool, error) {
	if w.Operation == "" {
		return operation{}, false, nil
	}
	value, found, err := g.sealed(g.keys.operation(w.Resource, w.Operation))
	if err != nil || !found {
		return operation{}, false, err
	}
	o, err := decodeOperation(value, f)
	if err != nil {
		return operation{}, false, fmt.Errorf("operation %.64q of %.64q: %w", string(w.Operation), w.Resource, err)
	}
	return o, true, nil
}

// apply runs the write function and commits. The resource's turn is ours and w
// was judged.
func (g *Guard) apply(w token.Write, f fence, write func(*pebble.Batch) ([]byte, error)) (token.Receipt, error) {
	// The batch is left to the garbage collector: Close would hand it to the
	// engine's next caller, whose write would then take in what is put into a
	// batch that a write function has kept.
	batch := g.store.db.NewIndexedBatch()
	value, err := write(batch)
	if wasCommitted(batch) {
		return token.Receipt{}, errors.Join(ErrCommitted, err)
	}
	if err != nil {
		return token.Receipt{}, err
	}
	if err := g.checkBatch(batch); err != nil {
		return token.Receipt{}, err
	}
	if len(value) > ValueBytesMax {
		return token.Receipt{}, fmt.Errorf("%w: %d bytes, at most %d are allowed", ErrTooLarge, len(value), ValueBytesMax)
	}
	receipt := token.Receipt{Token: w.Token, Value: cloneValue(value)}
	f.highest = w.Token
	if w.Operation != "" {
		if f, err = g.remember(batch, w, f, receipt.Value); err != nil {
			return token.Receipt{}, err
		}
	}
	if err := g.set(batch, g.keys.fence(w.Resource), f.encode()); err != nil {
		return token.Receipt{}, err
	}
	if err := g.commit(batch); err != nil {
		return token.Receipt{}, err
	}
	return receipt, nil
}
