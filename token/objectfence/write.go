package objectfence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/palisade-go/palisade/token"
)

// Update is what a write makes of a resource.
type Update struct {
	// Body is the new content, at most ObjectBytesMax bytes.
	Body []byte
	// Value is what the Receipt gives back, at most ValueBytesMax bytes.
	Value []byte
}

// errCollected says that the version to which a pointer pointed is gone, as the
// pointer has moved on.
var errCollected = errors.New("version was collected")

// Do replaces the resource's content by what change makes of it, together with
// w's token as the greatest accepted and w's operation, if it has one. It blocks
// for the store, and while others write to the resource; ctx ends that. change is
// given the content, nil if nothing was written yet, and is called again when
// somebody else was faster: it must have no other effect than what it returns,
// and must not write to the same resource through the guard, which would wait for
// itself. It may keep and alter what it is given.
//
// On success the content is in the store. If w's operation took effect before,
// change is not called and the first receipt is returned, with Repeated true and
// whatever w's token; a greater token is kept as the greatest all the same. On
// failure, also when change panics or exits the goroutine, the resource is as it
// was, except after token.ErrUnknown; a version to which nothing points may be
// left, see Collect.
//
// Errors: change's own; token.ErrInvalid for w and for a nil change;
// *token.StaleError; the context's; ErrTooLarge, ErrDamaged, ErrFormat,
// ErrRefused; token.ErrUnknown when the answer to the last request was lost and
// the pointer does not tell; the store's. It costs two Gets and two PutIfs for
// each time that change is called.
func (g *Guard) Do(
	ctx context.Context, w token.Write, change func(ctx context.Context, old []byte) (Update, error),
) (token.Receipt, error) {
	return g.write(ctx, w, w.Judge, change)
}

// DoOnce is Do for leases that allow one write each: it refuses a token that
// equals the greatest accepted as well, unless w's operation took effect before.
// Accept uses a token up.
func (g *Guard) DoOnce(
	ctx context.Context, w token.Write, change func(ctx context.Context, old []byte) (Update, error),
) (token.Receipt, error) {
	return g.write(ctx, w, w.JudgeOnce, change)
}

func (g *Guard) write(
	ctx context.Context, w token.Write, judge func(highest token.Token) error,
	change func(ctx context.Context, old []byte) (Update, error),
) (receipt token.Receipt, err error) {
	if err := w.Check(); err != nil {
		return token.Receipt{}, err
	}
	if change == nil {
		return token.Receipt{}, fmt.Errorf("%w: nil change for resource %.64q", token.ErrInvalid, w.Resource)
	}
	err = g.move(ctx, w.Resource, func(at state) (*pointer, error) {
		if w.Operation != "" {
			if known := at.find(w.Operation); known != nil {
				receipt = token.Receipt{Token: known.Token, Value: cloneValue(known.Value), Repeated: true}
				return raise(at, w), nil
			}
		}
		if err := judge(at.Token); err != nil {
			return nil, err
		}
		next, value, err := g.prepare(ctx, at, w, change)
		receipt = token.Receipt{Token: w.Token, Value: value}
		return next, err
	})
	if err != nil {
		return token.Receipt{}, err
	}
	return receipt, nil
}

// prepare calls change, writes the version that it makes, and returns the
// pointer to it, and the value of the receipt.
func (g *Guard) prepare(
	ctx context.Context, at state, w token.Write, change func(ctx context.Context, old []byte) (Update, error),
) (*pointer, []byte, error) {
	old, err := g.fetch(ctx, at)
	if errors.Is(err, ErrNotFound) {
		if _, err := g.reread(ctx, at); err != nil {
			return nil, nil, err
		}
		return nil, nil, errCollected
	}
	if err != nil {
		return nil, nil, err
	}
	update, err := change(ctx, old)
	if err != nil {
		return nil, nil, err
	}
	if len(update.Body) > ObjectBytesMax {
		return nil, nil, fmt.Errorf("%w: content of %d bytes, at most %d are allowed",
			ErrTooLarge, len(update.Body), ObjectBytesMax)
	}
	if len(update.Value) > ValueBytesMax {
		return nil, nil, fmt.Errorf("%w: a value of %d bytes, at most %d are allowed",
			ErrTooLarge, len(update.Value), ValueBytesMax)
	}
	id, err := newID()
	if err != nil {
		return nil, nil, err
	}
	next := at.pointer
	next.Token = w.Token
	next.Version = &version{Name: versionName(w, id), Bytes: len(update.Body), SHA256: sumOf(update.Body)}
	value := cloneValue(update.Value)
	if w.Operation != "" {
		next.Operations = append(slices.Clone(next.Operations), operation{w.Operation, w.Token, value})
		next.Operations = next.Operations[max(0, len(next.Operations)-g.operationsMax):]
	}
	if err := g.writeVersion(ctx, next.Version.Name, update.Body); err != nil {
		return nil, nil, fmt.Errorf("write version of %.64q: %w", w.Resource, err)
	}
	return &next, cloneValue(value), nil
}

// writeVersion writes a version. Nothing points to it yet, so a failure has no effect
// but perhaps the version itself.
func (g *Guard) writeVersion(ctx context.Context, name Name, body []byte) error {
	_, err := g.store.PutIf(ctx, name, body, Absent)
	if !errors.Is(err, ErrChanged) {
		return err
	}
	// The name is nobody else's. So a proxy asked twice, and this is the second
	// answer.
	object, getErr := g.store.Get(ctx, name)
	if getErr != nil || !bytes.Equal(object.Body, body) {
		return errors.Join(err, getErr)
	}
	return nil
}

// cloneValue makes no difference between no value and an empty one, so that the
// first receipt and a later one are equal.
func cloneValue(value []byte) []byte { return append([]byte(nil), value...) }
