package objectfence

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/palisade-go/palisade/token"
)

// putsMax is how often one move is tried when its answers are lost.
const putsMax = 3

// state is a pointer as it was read, with what PutIf compares. The zero pointer
// and Absent stand for none.
type state struct {
	pointer
	etag ETag
}

// read returns the state of the resource's pointer.
func (g *Guard) read(ctx context.Context, resource string) (state, error) {
	if ctx.Err() != nil {
		return state{}, ended(ctx) // a Store may not look
	}
	object, err := g.store.Get(ctx, PointerName(resource))
	if errors.Is(err, ErrNotFound) {
		return state{pointer: pointer{Format: pointerFormat, Resource: resource}}, nil
	}
	if err != nil {
		return state{}, fmt.Errorf("read pointer of %.64q: %w", resource, err)
	}
	p, err := decodePointer(object.Body, resource)
	return state{p, object.ETag}, err
}

// reread reads a pointer again whose version was not found. If it has not moved,
// the version is lost.
func (g *Guard) reread(ctx context.Context, before state) (state, error) {
	now, err := g.read(ctx, before.Resource)
	if err != nil {
		return state{}, err
	}
	if now.lastMove() == before.lastMove() {
		return state{}, fmt.Errorf("%w: version %s of %.64q is not there", ErrDamaged, before.Version.Name, before.Resource)
	}
	return now, nil
}

// fetch returns the content to which the pointer points, nil if there is none.
func (g *Guard) fetch(ctx context.Context, at state) ([]byte, error) {
	v := at.Version
	if v == nil {
		return nil, nil
	}
	object, err := g.store.Get(ctx, v.Name)
	if err != nil {
		return nil, fmt.Errorf("read version %s of %.64q: %w", v.Name, at.Resource, err)
	}
	if len(object.Body) != v.Bytes || sumOf(object.Body) != v.SHA256 {
		return nil, fmt.Errorf("%w: version %s of %.64q is not what was written", ErrDamaged, v.Name, at.Resource)
	}
	if object.Body == nil {
		return []byte{}, nil
	}
	return object.Body, nil
}

func sumOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// move reads the pointer, asks decide what is to become of it, and puts that in
// its place; it begins again when somebody else was faster, until ctx is done.
// With a nil pointer from decide it is content with what there is.
func (g *Guard) move(ctx context.Context, resource string, decide func(at state) (*pointer, error)) error {
	give, err := g.turns.Take(ctx, resource)
	if err != nil {
		return ended(ctx)
	}
	defer give() // by panic and Goexit of a change too
	for try := 0; ; try++ {
		at, err := g.read(ctx, resource)
		if err != nil {
			return err
		}
		next, err := decide(at)
		switch {
		case errors.Is(err, errCollected):
			// The pointer has moved on since it was read.
		case err != nil:
			return err
		case next == nil:
			return nil
		default:
			if done, err := g.put(ctx, at, *next); done || err != nil {
				return err
			}
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}

// put puts next in the place of at. It returns false when somebody else has
// moved the pointer first, so that this move never will take effect.
//
// An answer can be lost, and the request still be on its way when the pointer is
// read again; only a pointer that others have moved says for certain that it
// will not take effect. So an unmoved one is put again, by the same move.
func (g *Guard) put(ctx context.Context, at state, next pointer) (done bool, err error) {
	id, err := newID()
	if err != nil {
		return false, err
	}
	body, err := next.after(id).encode()
	if err != nil {
		return false, err
	}
	var lost error // the first answer that left the outcome open
	for range putsMax {
		_, err := g.store.PutIf(ctx, PointerName(at.Resource), body, at.etag)
		if err == nil {
			return true, nil
		}
		certain := errors.Is(err, ErrRefused) || errors.Is(err, ErrTooLarge) || errors.Is(err, token.ErrInvalid)
		if certain && lost == nil {
			return false, fmt.Errorf("move pointer of %.64q: %w", at.Resource, err)
		}
		if lost == nil && !errors.Is(err, ErrChanged) {
			lost = err
		}
		now, readErr := g.read(ctx, at.Resource)
		switch {
		case readErr != nil && lost == nil:
			lost = err // a proxy may have asked twice, and the first took effect
			fallthrough
		case readErr != nil:
			return false, unknown(at.Resource, lost, readErr)
		case now.moved(id):
			return true, nil
		case lost == nil:
			return false, nil // ErrChanged, and no trace of this move
		case now.lastMove() == at.lastMove():
			continue
		case now.follows(at.lastMove()):
			return false, nil
		default:
			return false, unknown(at.Resource, lost, errors.New("the pointer was moved too often since"))
		}
	}
	return false, unknown(at.Resource, lost, fmt.Errorf("tried %d times", putsMax))
}

// unknown is the error of a move whose outcome can't be told.
func unknown(resource string, lost, because error) error {
	return fmt.Errorf("%w: move pointer of %.64q: %w (then: %w)", token.ErrUnknown, resource, lost, because)
}
