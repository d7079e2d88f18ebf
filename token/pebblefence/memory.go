package pebblefence

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/cockroachdb/pebble/v2"

	"github.com/palisade-go/palisade/token"
)

// forgetBatchMax bounds how many operations one commit forgets, and with it the
// size of a batch.
const forgetBatchMax = 1000

// Forget forgets the oldest operations of the resource, so that at most keep are
// remembered, and returns how many it forgot. It is never needed to stay within
// Config.OperationsMax. It waits for the resource's turn, which ctx ends, also
// between commits of 1000 each.
//
// A retry of an operation that was forgotten does it again, unless its token is
// stale. The fence stays. On failure the operations that it counts are
// forgotten, and of the next 1000 all or none.
//
// Errors: token.ErrInvalid for the name and a negative keep; those of Do that
// are not about its write. It costs one read for each operation, and one synced
// commit for 1000.
func (g *Guard) Forget(ctx context.Context, resource string, keep int) (forgotten int, err error) {
	if err := checkResource(resource); err != nil {
		return 0, err
	}
	if keep < 0 {
		return 0, fmt.Errorf("%w: Forget is to keep %d operations", token.ErrInvalid, keep)
	}
	for {
		more := 0
		err := g.turn(ctx, resource, func(f fence) (err error) {
			more, err = g.forgetSome(resource, f, uint64(keep))
			return err
		})
		if err != nil {
			return forgotten, err
		}
		forgotten += more
		if more < forgetBatchMax {
			return forgotten, nil
		}
	}
}

// forgetSome makes one commit of Forget.
func (g *Guard) forgetSome(resource string, f fence, keep uint64) (int, error) {
	batch := g.store.db.NewBatch()
	after, err := g.forget(batch, resource, f, keep)
	if err != nil || after.first == f.first {
		return 0, err
	}
	if err := g.set(batch, g.keys.fence(resource), after.encode()); err != nil {
		return 0, err
	}
	if err := g.commit(batch); err != nil {
		return 0, err
	}
	return int(after.first - f.first), nil
}

// remember puts w's operation into the batch, forgets as many as are too many
// then, and returns the fence that goes with it.
func (g *Guard) remember(batch *pebble.Batch, w token.Write, f fence, value []byte) (fence, error) {
	f, err := g.forget(batch, w.Resource, f, g.operationsMax-1)
	if err != nil {
		return fence{}, err
	}
	o := operation{number: f.next, token: w.Token, value: value}
	if err := g.set(batch, g.keys.operation(w.Resource, w.Operation), o.encode()); err != nil {
		return fence{}, err
	}
	if err := g.set(batch, g.keys.number(w.Resource, o.number), []byte(w.Operation)); err != nil {
		return fence{}, err
	}
	f.next++
	return f, nil
}

// forget puts the deletion of the oldest operations into the batch, at most
// forgetBatchMax, so that keep are left, and returns the fence that goes with
// it.
func (g *Guard) forget(batch *pebble.Batch, resource string, f fence, keep uint64) (fence, error) {
	for deleted := 0; f.next-f.first > keep && deleted < forgetBatchMax; deleted++ {
		number := g.keys.number(resource, f.first)
		id, found, err := g.sealed(number)
		if err != nil {
			return fence{}, err
		}
		if !found || len(id) == 0 || len(id) > token.OperationBytesMax || !utf8.Valid(id) {
			return fence{}, fmt.Errorf("%w: operation %d of %.64q has no id", ErrDamaged, f.first, resource)
		}
		if err := batch.Delete(number, nil); err != nil {
			return fence{}, fmt.Errorf("pebblefence: %w", err)
		}
		if err := batch.Delete(g.keys.operation(resource, token.Operation(id)), nil); err != nil {
			return fence{}, fmt.Errorf("pebblefence: %w", err)
		}
		f.first++
	}
	return f, nil
}
