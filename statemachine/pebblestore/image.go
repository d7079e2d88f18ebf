package pebblestore

import (
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/palisade-go/palisade/statemachine"
)

// Bounds of a record. A batch of a node is at most 4 MiB, so no record of a
// machine comes near them; they limit what a damaged stream can make a reader
// allocate. Part of the stream's format; never lower.
const (
	KeyBytesMax   = 4 << 10
	ValueBytesMax = 4 << 20
)

// Image is the current image of one replica. Get it from Store.Image.
type Image struct {
	store *Store
	id    replicaID

	// change serialises Commit, Recover and Remove. It is held for as long as
	// they run; readers do not take it.
	change sync.Mutex
	next   uint64 // number of the next new image; guarded by change

	// mu is held for moments only, never over a commit. Both fields change
	// after the engine has accepted what they say, and before what they
	// replace is deleted: who reads the old number in between, and opens its
	// view under mu, finds the old image whole.
	mu struct {
		sync.Mutex
		number  uint64 // of the named image; unnamed: there is none
		removed bool
	}
}

func newImage(s *Store, id replicaID, number uint64) *Image {
	image := &Image{store: s, id: id, next: max(number+1, firstImage)}
	image.mu.number = number
	return image
}

// Commit applies the records in order as one atomic batch; a nil Value deletes
// the key, which need not exist. Keys and values are copied. It does not wait
// for the disk, except while the engine's memory is full of what was not yet
// written. On success the records are visible to readers and survive a crash if
// what was committed after them does, or if Flush was called. On failure nothing
// was applied.
//
// Errors: ErrTooLarge, ErrRemoved, ErrClosed, or the failure of the store.
func (i *Image) Commit(records []statemachine.Record) error {
	for _, record := range records {
		if err := checkBounds(len(record.Key), len(record.Value)); err != nil {
			return err
		}
	}
	leave, err := i.enter()
	if err != nil {
		return err
	}
	defer leave()
	if len(records) == 0 {
		return nil
	}
	number := i.current()
	if number != unnamed {
		return i.write(number, records)
	}
	// The batch that begins an image names it too, so that this commit is
	// atomic like any other.
	number = i.next
	err = i.store.change(func(batch *pebble.Batch) error {
		if err := i.fill(batch, number, records); err != nil {
			return err
		}
		return batch.Set(replicaKey(kindName, i.id), nameValue(number), nil)
	})
	if err != nil {
		return err
	}
	i.next++
	i.setCurrent(number)
	return nil
}

// Each calls fn with every record in key order, as they were when Each was
// called, until fn returns an error, which Each returns as it is. key and value
// must not be changed, and are valid until fn returns. fn may use the image, but
// a Commit of fn is not seen, and must not close the store. Each does not hold a
// lock meanwhile.
//
// Errors: fn's, ErrRemoved, ErrClosed, or the engine's read error.
func (i *Image) Each(fn func(key, value []byte) error) error {
	if err := i.store.gate.enter(); err != nil {
		return err
	}
	defer i.store.gate.leave()

	i.mu.Lock()
	if i.mu.removed {
		i.mu.Unlock()
		return i.removedError()
	}
	if i.mu.number == unnamed {
		i.mu.Unlock()
		return nil
	}
	records, err := i.store.scan(i.store.db, imagePrefix(i.id, i.mu.number))
	i.mu.Unlock()
	if err != nil {
		return err
	}
	return records.each(func(key, value []byte) error {
		if err := i.store.gate.check(nil); err != nil {
			return err
		}
		return fn(key, value)
	})
}

// Empty reports whether the image has no record. It is false when that can't be
// read; Each says why.
func (i *Image) Empty() bool {
	empty := true
	err := i.Each(func([]byte, []byte) error {
		empty = false
		return errEnough
	})
	return empty && err == nil
}

// enter admits one change of the image and returns what ends it.
func (i *Image) enter() (leave func(), err error) {
	if err := i.store.gate.enter(); err != nil {
		return nil, err
	}
	i.change.Lock()
	if i.isRemoved() {
		i.change.Unlock()
		i.store.gate.leave()
		return nil, i.removedError()
	}
	return func() {
		i.change.Unlock()
		i.store.gate.leave()
	}, nil
}

// current returns the number of the named image.
func (i *Image) current() uint64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.mu.number
}

func (i *Image) setCurrent(number uint64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.mu.number = number
}

func (i *Image) isRemoved() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.mu.removed
}

func (i *Image) removedError() error { return fmt.Errorf("%w: %s", ErrRemoved, i.id) }

// write commits the records to the image with that number.
func (i *Image) write(number uint64, records []statemachine.Record) error {
	return i.store.change(func(batch *pebble.Batch) error {
		return i.fill(batch, number, records)
	})
}

// fill puts the records into the batch.
func (i *Image) fill(batch *pebble.Batch, number uint64, records []statemachine.Record) error {
	key := imagePrefix(i.id, number)
	for _, record := range records {
		key = append(key[:imagePrefixBytes], record.Key...)
		var err error
		if record.Value == nil {
			err = batch.Delete(key, nil)
		} else {
			err = batch.Set(key, record.Value, nil)
		}
		if err != nil {
			return fmt.Errorf("batch for %s: %w", i.id, err)
		}
	}
	return nil
}

// drop deletes every record of the image with that number, unsynced.
func (i *Image) drop(number uint64) error {
	prefix := imagePrefix(i.id, number)
	return i.store.change(func(batch *pebble.Batch) error {
		return batch.DeleteRange(prefix, successor(prefix), nil)
	})
}

func checkBounds(keyBytes, valueBytes int) error {
	if keyBytes > KeyBytesMax {
		return fmt.Errorf("%w: key has %d bytes, the limit is %d", ErrTooLarge, keyBytes, KeyBytesMax)
	}
	if valueBytes > ValueBytesMax {
		return fmt.Errorf("%w: value has %d bytes, the limit is %d", ErrTooLarge, valueBytes, ValueBytesMax)
	}
	return nil
}
