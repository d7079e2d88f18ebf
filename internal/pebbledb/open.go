// Package pebbledb is what all stores on pebble do alike. It says in errors what
// pebble says otherwise: that a directory is locked in a text, and that it can't go
// on in a panic or a call of Fatalf. And it keeps pebble from going on after a
// failed sync of a directory.
package pebbledb

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
)

// Open calls pebble's Open. When the disk fails under it, that cleans up and
// panics, sometimes through Fatalf. Nothing is lost at that point, so an error is
// returned instead. A fault of the program stays a panic.
func Open(dir string, opts *pebble.Options) (db *pebble.DB, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case runtime.Error:
			panic(r)
		case error:
			db, err = nil, r
		default:
			panic(r)
		}
	}()
	return pebble.Open(dir, opts)
}

// lockedByUs is part of an error for which pebble has no value.
const lockedByUs = "lock held by current process"

// IsLocked reports whether err is that of an Open of a directory that is open
// already, in this process or in another one.
func IsLocked(err error) bool {
	if err == nil {
		return false
	}
	// A bare EACCES is the answer of fcntl; opening a file wraps it in a path.
	return errors.Is(err, syscall.EAGAIN) || err == syscall.EACCES || strings.Contains(err.Error(), lockedByUs)
}

// FatalError is what pebble calls the Fatalf of its logger with, when it no longer
// knows what is on disk.
type FatalError struct {
	message string
	cause   error // nil if pebble named none
}

// Fatal makes the error of a call of Fatalf.
func Fatal(format string, args ...any) *FatalError {
	err := &FatalError{message: fmt.Sprintf(format, args...)}
	for _, arg := range args {
		if cause, ok := arg.(error); ok {
			err.cause = cause
		}
	}
	return err
}

// Error implements error.
func (e *FatalError) Error() string { return e.message }

// Unwrap returns the error that pebble named.
func (e *FatalError) Unwrap() error { return e.cause }
