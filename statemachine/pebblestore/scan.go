package pebblestore

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// errEnough ends a scan without being a failure.
var errEnough = errors.New("enough")

// scan is a walk over all keys with one prefix, as they were when it was made.
type scan struct {
	store  *Store
	prefix int
	iter   *pebble.Iterator
}

// scan opens a walk over what reader holds under prefix. The caller must call
// each, which ends it.
func (s *Store) scan(reader pebble.Reader, prefix []byte) (*scan, error) {
	iter, err := reader.NewIter(&pebble.IterOptions{
		LowerBound: prefix,
		UpperBound: successor(prefix),
	})
	if err != nil {
		return nil, s.readError(err)
	}
	return &scan{store: s, prefix: len(prefix), iter: iter}, nil
}

// each calls fn with every key, without the prefix, and its value, in order,
// until fn returns an error, which each returns. Both are valid until fn
// returns.
func (sc *scan) each(fn func(key, value []byte) error) (err error) {
	defer func() {
		// Close also returns what made First or Next give up.
		if closeErr := sc.iter.Close(); err == nil && closeErr != nil {
			err = sc.store.readError(closeErr)
		}
	}()
	for ok := sc.iter.First(); ok; ok = sc.iter.Next() {
		value, err := sc.iter.ValueAndErr()
		if err != nil {
			return sc.store.readError(err)
		}
		if err := fn(sc.iter.Key()[sc.prefix:], value); err != nil {
			return err
		}
	}
	return nil
}
