package diskstore

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/palisade-go/palisade/internal/pebbledb"
)

// Sizes of the engine. What a guard keeps is small and written once.
const (
	memTableBytes = 4 << 20
	openFilesMax  = 128
	engineFormat  = pebble.FormatTableFormatV6
)

// openEngine opens the database and turns what it can tell into typed errors.
func openEngine(dir string, fsys vfs.FS) (*pebble.DB, error) {
	opts := &pebble.Options{
		FS: fsys, Logger: engineLog{dir: dir}, FormatMajorVersion: engineFormat,
		MemTableSize: memTableBytes, MaxOpenFiles: openFilesMax,
	}
	opts.Experimental.FileCacheShards = 1
	// The default scheduler keeps a ticker, and leaks it when Open fails.
	opts.Experimental.CompactionScheduler = pebble.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest()
	db, err := pebbledb.Open(dir, opts)
	if pebbledb.IsLocked(err) {
		return nil, fmt.Errorf("%w: %w", ErrInUse, err)
	}
	return db, err
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
	panic(&fatalError{l.dir, pebbledb.Fatal(format, args...)})
}

// fatalError is what Fatalf panics with.
type fatalError struct {
	dir   string
	cause *pebbledb.FatalError
}

func (e *fatalError) Error() string {
	return fmt.Sprintf("fence store %s can't go on: %v", e.dir, e.cause)
}

func (e *fatalError) Unwrap() error { return e.cause }
