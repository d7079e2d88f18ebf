package pebblefence

import "errors"

var (
	// ErrBatch says that what a write function left in its batch can't be
	// committed: it touches keys under the guard's prefix, can't be read, or the
	// batch was closed, reset or filled by SetRepr. Nothing was written.
	ErrBatch = errors.New("pebblefence: batch refused")
	// ErrCommitted says that a write function committed its batch itself. What
	// it wrote is there, without the fence and without the operation.
	ErrCommitted = errors.New("pebblefence: the write function committed the batch")
	// ErrTooLarge says that a write function returned more than ValueBytesMax
	// bytes. Nothing was written.
	ErrTooLarge = errors.New("pebblefence: value too large")
	// ErrReplaced says that a later Guard was made for the same database and
	// prefix. Nothing was written, and this Guard will write no more.
	ErrReplaced = errors.New("pebblefence: replaced by a later guard")
	// ErrFailed says that a commit of this Guard failed before, so that memory
	// and disk may differ. Nothing was written now, and this Guard will write no
	// more: open the database again.
	ErrFailed = errors.New("pebblefence: guard failed")
	// ErrFormat says that the prefix holds something else than a fence of this
	// version.
	ErrFormat = errors.New("pebblefence: unknown format")
	// ErrDamaged says that a record is not what was written. Nothing was
	// written, and the resource takes no writes until the record is mended: a
	// fence that is guessed would let a paused writer in.
	ErrDamaged = errors.New("pebblefence: record is damaged")
)
