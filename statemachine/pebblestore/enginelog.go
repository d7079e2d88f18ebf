package pebblestore

import (
	"fmt"
	"log/slog"

	"github.com/cockroachdb/pebble/v2"
)

// engineLog is what the engine logs to.
type engineLog struct {
	dir string
	log *slog.Logger
}

var _ pebble.Logger = engineLog{}

// Infof drops what the engine has to say about its normal work.
func (engineLog) Infof(string, ...any) {}

func (l engineLog) Errorf(format string, args ...any) {
	l.log.Error(fmt.Sprintf(format, args...), "dir", l.dir)
}

// Fatalf is called when the engine no longer knows what is on disk. It must not
// return, and a library must not call os.Exit as the engine's own logger does:
// the panic carries an error that says what happened.
func (l engineLog) Fatalf(format string, args ...any) {
	err := &fatalError{dir: l.dir, message: fmt.Sprintf(format, args...)}
	for _, arg := range args {
		if cause, ok := arg.(error); ok {
			err.cause = cause
		}
	}
	l.log.Error("lock store can't go on", "dir", l.dir, "cause", err.message)
	panic(err)
}

// fatalError is what Fatalf panics with.
type fatalError struct {
	dir, message string
	cause        error // nil if the engine named none
}

func (e *fatalError) Error() string {
	return fmt.Sprintf("lock store %s can't go on: %s", e.dir, e.message)
}

func (e *fatalError) Unwrap() error { return e.cause }
