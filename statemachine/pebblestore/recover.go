package pebblestore

import (
	"errors"
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2"
)

// recoverBatchBytes bounds what of a stream is in one batch: a fraction of a
// memtable, so that memory does not grow with the image.
const recoverBatchBytes = 512 << 10

// Recover replaces the image by the one in the stream r. It blocks as r does and
// for a Flush, looks at stop before every record, and needs disk for both images
// until its end. r must end after the stream. Snapshots of the old image stay
// what they are.
//
// The new image is written under a number of its own, which nobody reads, and
// becomes the current one by a single record, written after the checksum was
// verified; the old one is deleted when that record is durable. On success the
// new image is durable. On failure the old image is in place as if nothing had
// happened, with one exception: when the store itself fails, a restart finds the
// old image or the new one, each whole. The same is true of a crash.
//
// Errors: ErrCorrupt for a bad stream, ErrFormat for one of another version,
// ErrStopped, ErrRemoved, ErrClosed, r's, or the failure of the store.
func (i *Image) Recover(r io.Reader, stop <-chan struct{}) error {
	leave, err := i.enter()
	if err != nil {
		return err
	}
	defer leave()

	old, number := i.current(), i.next
	i.next++
	if err := i.load(number, r, stop); err != nil {
		if dropErr := i.drop(number); dropErr != nil {
			return errors.Join(err, dropErr)
		}
		return err
	}
	if err := i.rename(number); err != nil {
		return err
	}
	if err := i.store.flusher.flush(); err != nil {
		return err
	}
	if old == unnamed {
		return nil
	}
	return i.drop(old)
}

// load writes the stream's records into the image with that number and returns
// nil when the whole stream was verified.
func (i *Image) load(number uint64, r io.Reader, stop <-chan struct{}) error {
	if err := i.store.gate.check(stop); err != nil {
		return err
	}
	stream, err := newStreamReader(r)
	if err != nil {
		return err
	}
	for more := true; more; {
		err := i.store.change(func(batch *pebble.Batch) error {
			more, err = i.loadBatch(batch, number, stream, stop)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// loadBatch moves records from the stream into the batch until it is full. It
// returns false when the stream has ended and was verified.
func (i *Image) loadBatch(batch *pebble.Batch, number uint64, stream *streamReader, stop <-chan struct{}) (bool, error) {
	key := imagePrefix(i.id, number)
	for batch.Len() < recoverBatchBytes {
		if err := i.store.gate.check(stop); err != nil {
			return false, err
		}
		more, err := stream.next()
		if err != nil || !more {
			return false, err
		}
		key = append(key[:imagePrefixBytes], stream.key...)
		if err := batch.Set(key, stream.value, nil); err != nil {
			return false, fmt.Errorf("batch for %s: %w", i.id, err)
		}
	}
	return true, nil
}

// rename makes the image with that number the current one, unsynced.
func (i *Image) rename(number uint64) error {
	err := i.store.change(func(batch *pebble.Batch) error {
		return batch.Set(replicaKey(kindName, i.id), nameValue(number), nil)
	})
	if err != nil {
		return err
	}
	i.setCurrent(number)
	return nil
}
