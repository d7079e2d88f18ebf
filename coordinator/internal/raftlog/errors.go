package raftlog

import (
	"errors"
	"fmt"
)

var (
	// ErrInUse says that the directory is open in another store, of this process
	// or of another one.
	ErrInUse = errors.New("log store is in use")

	// ErrCorrupt says that bytes of the store are not what was written.
	ErrCorrupt = errors.New("log store is corrupt")

	// ErrBroken says that a call would have broken an invariant of the log.
	// Nothing of it was written.
	ErrBroken = errors.New("update would break the log")

	// ErrClosed says that the store is closed.
	ErrClosed = errors.New("log store is closed")
)

// FormatError says that a directory holds something that is not a log store of
// the format that this code writes. Nothing in it was changed.
type FormatError struct {
	// Dir is the directory that was looked at.
	Dir string
	// Found says what is there.
	Found string
}

// Error implements error.
func (e *FormatError) Error() string {
	return fmt.Sprintf("%s is not a log store of version %d: found %s", e.Dir, storeVersion, e.Found)
}
