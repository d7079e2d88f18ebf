package diskstore

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Sizes of the engine. What a guard keeps is small and written once.
const (
	memTableBytes     = 4 << 20
	openFilesMax      = 128
	engineFormat      = pebble.FormatTableFormatV6
	errLockedInOurOwn = "lock held by current process" // the engine has no value for it
)

// openEngine opens the database and turns what it can tell into typed errors.
func openEngine(dir string, fsys vfs.FS) (db *pebble.DB, err error) {
	defer func() {
		// When the disk fails under its Open the engine may end in a panic.
		// Nothing is lost at that point. A fault of the program stays a panic.
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
	opts := &pebble.Options{
		FS: fsys, Logger: engineLog{dir: dir}, FormatMajorVersion: engineFormat,
		MemTableSize: memTableBytes, MaxOpenFiles: openFilesMax,
	}
	opts.Experimental.FileCacheShards = 1
	// The default scheduler keeps a ticker, and leaks it when Open fails.
	opts.Experimental.CompactionScheduler = pebble.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest()
	db, err = pebble.Open(dir, opts)
	if err != nil && isLocked(err) {
		return nil, fmt.Errorf("%w: %w", ErrInUse, err)
	}
	return db, err
}

// isLocked says whether the directory is locked already. A bare EACCES is the
// answer of fcntl; opening a file wraps it in a path.
func isLocked(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || err == syscall.EACCES || strings.Contains(err.Error(), errLockedInOurOwn)
}

// engineLog is what the engine logs to.
type engineLog struct{ dir string }

var _ pebble.Logger = engineLog{}

// Infof drops what the engine has to say about its normal work.
func (engineLog) Infof(string, ...any) {}

// Errorf drops what the engine tries again by itself.
func (engineLog) Errorf(string, ...any) {}

// Fatalf is called when the engine no longer knows what is on disk. It must not
// return. In a Save the panic becomes an error; in the engine's background it
// ends the process.
func (l engineLog) Fatalf(format string, args ...any) {
	fatal := &fatalError{dir: l.dir, message: fmt.Sprintf(format, args...)}
	for _, arg := range args {
		if cause, ok := arg.(error); ok {
			fatal.cause = cause
		}
	}
	panic(fatal)
}

// fatalError is what Fatalf panics with.
type fatalError struct {
	dir, message string
	cause        error // nil if the engine named none
}

func (e *fatalError) Error() string {
	return fmt.Sprintf("fence store %s can't go on: %s", e.dir, e.message)
}

func (e *fatalError) Unwrap() error { return e.cause }
