package diskstore

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/palisade-go/palisade/token"
)

// fence returns what is kept of a resource, and of one that is not known what
// it begins with.
func (s *Store) fence(resource string) (fence, error) {
	value, found, err := s.sealed(fenceKey(resource))
	if err != nil {
		return fence{}, fmt.Errorf("fence of %.64q: %w", resource, err)
	}
	if !found {
		return fence{first: firstNumber, next: firstNumber}, nil
	}
	f, err := decodeFence(value)
	if err != nil {
		return fence{}, fmt.Errorf("fence of %.64q: %w", resource, err)
	}
	return f, nil
}

func (s *Store) record(resource string, operation token.Operation) (record, bool, error) {
	value, found, err := s.sealed(operationKey(resource, operation))
	if err == nil && !found {
		return record{}, false, nil
	}
	var r record
	if err == nil {
		r, err = decodeRecord(value)
	}
	if err != nil {
		return record{}, false, fmt.Errorf("operation %.64q of %.64q: %w", operation, resource, err)
	}
	return r, true, nil
}

// sealed returns a value without its checksum.
func (s *Store) sealed(key []byte) (value []byte, found bool, err error) {
	if value, found, err = s.get(key); err != nil || !found {
		return nil, false, err
	}
	value, err = unseal(key, value)
	return value, true, err
}

// get returns a copy of the value of key, and whether there is one.
func (s *Store) get(key []byte) (value []byte, found bool, err error) {
	stored, closer, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	value = append([]byte{}, stored...)
	return value, true, closer.Close()
}

// commit makes the batch durable. When the engine can't it calls Fatalf, whose
// panic ends here: it would leave the store as it is, and an HTTP server catches
// the panics of its handlers.
func (s *Store) commit(batch *pebble.Batch) (err error) {
	defer func() {
		if r := recover(); r != nil {
			fatal, ok := r.(*fatalError)
			if !ok {
				panic(r)
			}
			err = fatal
		}
		if err != nil {
			s.failure.Lock()
			defer s.failure.Unlock()
			if s.failure.cause == nil {
				s.failure.cause = fmt.Errorf("%w: %w", ErrFailed, err)
			}
			err = s.failure.cause
		}
	}()
	return s.db.Apply(batch, pebble.Sync)
}

// put puts a value with its checksum into the batch.
func put(batch *pebble.Batch, key, value []byte) error {
	return batch.Set(key, seal(key, value), nil)
}
