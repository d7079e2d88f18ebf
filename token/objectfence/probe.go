package objectfence

import (
	"context"
	"errors"
	"fmt"
)

// ProbeName is the object that Probe writes. It is left there.
const ProbeName Name = "probe"

// Probe returns nil if the store compares: it takes PutIfs of one small object
// that it has to take, and refuses those that it has to refuse. Call it when a
// program starts, for a store that is behind HTTP: a server or a proxy that does
// not know If-Match answers as if all were well, and every guard on it is none.
// It blocks for the store; ctx ends that. It may be called by many at once.
//
// Errors: ErrDoesNotCompare; the store's. It costs three to six PutIfs.
func Probe(ctx context.Context, store Store) error {
	for try := 0; ; try++ {
		err := probe(ctx, store)
		if !errors.Is(err, errDisturbed) {
			return err
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}

// errDisturbed says that somebody else wrote the object in between.
var errDisturbed = errors.New("another probe was here")

func probe(ctx context.Context, store Store) error {
	put := func(match ETag) (ETag, error) {
		id, err := newID() // a body of its own, so that the ETag is another
		if err != nil {
			return Absent, err
		}
		return store.PutIf(ctx, ProbeName, []byte(id+"\n"), match)
	}
	if _, err := put(Absent); err != nil && !errors.Is(err, ErrChanged) {
		return fmt.Errorf("probe: make an object: %w", err)
	}
	first, err := store.Get(ctx, ProbeName)
	if err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	if err := refused(put(Absent))("make an object that is there"); err != nil {
		return err
	}
	// Nobody has ever seen this ETag.
	id, err := newID()
	if err != nil {
		return err
	}
	if err := refused(put(ETag(`"` + id + `"`)))("replace an object by a wrong ETag"); err != nil {
		return err
	}
	switch _, err := put(first.ETag); {
	case errors.Is(err, ErrChanged):
		return errDisturbed
	case err != nil:
		return fmt.Errorf("probe: replace an object: %w", err)
	}
	return refused(put(first.ETag))("replace an object by its old ETag")
}

// refused wants ErrChanged.
func refused(_ ETag, err error) func(what string) error {
	return func(what string) error {
		switch {
		case err == nil:
			return fmt.Errorf("%w: it agreed to %s", ErrDoesNotCompare, what)
		case errors.Is(err, ErrChanged):
			return nil
		}
		return fmt.Errorf("probe: %s: %w", what, err)
	}
}
