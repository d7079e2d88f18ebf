package pebblefence

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/rangekey"
)

// wasCommitted says whether the batch was committed since it was made. Both
// marks are the commit's: a large batch loses the one, and a coarse clock may
// not show in the other.
func wasCommitted(batch *pebble.Batch) bool {
	return batch.SeqNum() != 0 || batch.CommitStats() != (pebble.BatchCommitStats{})
}

// checkBatch returns nil if what a write function left in its batch may be
// committed with the fence. It reads the whole batch.
func (g *Guard) checkBatch(batch *pebble.Batch) error {
	if !batch.Indexed() {
		return fmt.Errorf("%w: it was closed", ErrBatch)
	}
	count := uint32(0)
	for reader := batch.Reader(); ; {
		kind, key, value, more, err := reader.Next()
		if err != nil {
			return fmt.Errorf("%w: %w", ErrBatch, err)
		}
		if !more {
			break
		}
		if kind != pebble.InternalKeyKindLogData {
			count++
		}
		if err := g.keys.checkEntry(kind, key, value); err != nil {
			return err
		}
	}
	// Only SetRepr can do this. The engine would find it in the middle of the
	// commit, which is fatal to the database.
	if count != batch.Count() {
		return fmt.Errorf("%w: it has %d entries and claims %d", ErrBatch, count, batch.Count())
	}
	return nil
}

// checkEntry returns nil if an entry of a batch leaves the keys of the prefix
// alone.
func (k keyspace) checkEntry(kind pebble.InternalKeyKind, key, value []byte) error {
	switch kind {
	case pebble.InternalKeyKindLogData:
		return nil // it has no key
	case pebble.InternalKeyKindSet, pebble.InternalKeyKindSetWithDelete, pebble.InternalKeyKindMerge,
		pebble.InternalKeyKindDelete, pebble.InternalKeyKindDeleteSized, pebble.InternalKeyKindSingleDelete:
		if k.holds(key) {
			return fmt.Errorf("%w: %s of key %.64q, which is the guard's", ErrBatch, kind, key)
		}
		return nil
	case pebble.InternalKeyKindRangeDelete:
		return k.checkRange(kind, key, value)
	case pebble.InternalKeyKindRangeKeySet, pebble.InternalKeyKindRangeKeyUnset, pebble.InternalKeyKindRangeKeyDelete:
		span, err := rangekey.Decode(pebble.MakeInternalKey(key, 0, kind), value, nil)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrBatch, err)
		}
		return k.checkRange(kind, span.Start, span.End)
	default:
		// Ingested and excised tables would not be read here.
		return fmt.Errorf("%w: an entry of kind %s", ErrBatch, kind)
	}
}

func (k keyspace) checkRange(kind pebble.InternalKeyKind, start, end []byte) error {
	if k.meets(start, end) {
		return fmt.Errorf("%w: %s from %.64q to %.64q, which takes in the guard's keys", ErrBatch, kind, start, end)
	}
	return nil
}
