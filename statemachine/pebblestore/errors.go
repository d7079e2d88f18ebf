package pebblestore

import "errors"

var (
	// ErrFormat says that a directory or a stream has a format that this code
	// does not know. The message names the format found and the one known.
	ErrFormat = errors.New("unknown store format")

	// ErrInUse says that the directory is open in another store, of this
	// process or of another one.
	ErrInUse = errors.New("store directory is in use")

	// ErrCorrupt says that the bytes of a stream or of the store's own records
	// are not what was written.
	ErrCorrupt = errors.New("store data is corrupt")

	// ErrTooLarge says that a record exceeds KeyBytesMax or ValueBytesMax.
	ErrTooLarge = errors.New("record is too large for the store")

	// ErrRemoved says that the replica was removed from this node.
	ErrRemoved = errors.New("replica was removed from the store")

	// ErrStopped says that the caller's stop channel was closed.
	ErrStopped = errors.New("stopped by the caller")

	// ErrClosed says that the store, or the snapshot, is closed.
	ErrClosed = errors.New("store or snapshot is closed")
)
