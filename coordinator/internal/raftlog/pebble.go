package raftlog

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Sizes of the database. Memory is bounded by memTableBytes*memTablesMax for the
// memtables, and blockCacheBytes: 40 MiB. A batch that is larger than half a
// memtable adds its own size until it is flushed.
const (
	// memTableBytes is also what is on disk of one write-ahead log. Entries
	// that are removed before their memtable is full cost no table.
	memTableBytes    = 8 << 20
	memTablesMax     = 4 // writers are held back while this many wait for the disk
	blockCacheBytes  = 8 << 20
	openFilesMax     = 128
	manifestBytesMax = 1 << 20
	level0Files      = 8  // compact level 0 at this many files even if they do not overlap
	level0Depth      = 4  // and at this many that do
	level0DepthMax   = 24 // writers are held back
	databaseFormat   = pebble.FormatTableFormatV6
	// lockedByUs is part of an error for which pebble has no value.
	lockedByUs = "lock held by current process"
)

// openDatabase opens the database and turns what it can tell into typed errors.
func openDatabase(dir string, opts *pebble.Options) (db *pebble.DB, err error) {
	// When the disk fails under its Open, pebble cleans up and panics, sometimes
	// through Fatalf. Nothing is lost at that point, so the caller gets an error
	// instead. A fault of the program stays a panic.
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
	db, err = pebble.Open(dir, opts)
	switch {
	case err == nil:
		return db, nil
	case isLocked(err):
		return nil, fmt.Errorf("%w: %w", ErrInUse, err)
	case pebble.IsCorruptionError(err):
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	default:
		return nil, err
	}
}

// isLocked reports whether the directory is locked already.
func isLocked(err error) bool {
	// A bare EACCES is the answer of fcntl; opening a file wraps it in a path.
	return errors.Is(err, syscall.EAGAIN) || err == syscall.EACCES || strings.Contains(err.Error(), lockedByUs)
}

// databaseOptions says how pebble is to work. They are not written to disk as a
// contract: only databaseFormat is.
func databaseOptions(fsys vfs.FS, failure *failure, listener *pebble.EventListener, memTable uint64) *pebble.Options {
	opts := &pebble.Options{
		FS:                 databaseFS{fsys},
		Logger:             databaseLog{dir: failure.dir, log: failure.log},
		EventListener:      listener,
		FormatMajorVersion: databaseFormat,

		MemTableSize:                memTable,
		MemTableStopWritesThreshold: memTablesMax,

		CacheSize:           blockCacheBytes,
		MaxOpenFiles:        openFilesMax,
		MaxManifestFileSize: manifestBytesMax,

		// Entries are removed in the order in which they came, by ranges. A table
		// that such a range covers is dropped without being read, once the range
		// has left level 0; so that is compacted early.
		L0CompactionFileThreshold: level0Files,
		L0CompactionThreshold:     level0Depth,
		L0StopWritesThreshold:     level0DepthMax,
	}
	// Most entries die in their memtable or in level 0; compressing those costs
	// more than it saves.
	opts.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionNone })
	opts.Experimental.FileCacheShards = 1
	// One compaction at a time is what the default allows as well. Its scheduler
	// keeps a ticker at 10 Hz for limits that change, and leaks it when Open
	// fails; this one has none, and grants the next when the last is done.
	opts.Experimental.CompactionScheduler = pebble.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest()
	return opts
}

// databaseFS hides how full the disk is. Pebble asks in order to pace its
// deletions, which is off, and would report a failure to find out as it reports a
// flush that failed.
type databaseFS struct{ vfs.FS }

func (databaseFS) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{}, vfs.ErrUnsupported
}

// Unwrap returns the file system below, for pebble's inspection.
func (d databaseFS) Unwrap() vfs.FS { return d.FS }

// databaseLog is what pebble logs to.
type databaseLog struct {
	dir string
	log *slog.Logger
}

var _ pebble.Logger = databaseLog{}

// Infof drops what pebble has to say about its normal work.
func (databaseLog) Infof(string, ...any) {}

func (l databaseLog) Errorf(format string, args ...any) {
	l.log.Error(fmt.Sprintf(format, args...), "dir", l.dir)
}

// Fatalf is called when pebble no longer knows what is on disk. It must not
// return, and a library must not call os.Exit as pebble's own logger does: the
// panic carries an error that says what happened.
func (l databaseLog) Fatalf(format string, args ...any) {
	err := &fatalError{dir: l.dir, message: fmt.Sprintf(format, args...)}
	for _, arg := range args {
		if cause, ok := arg.(error); ok {
			err.cause = cause
		}
	}
	l.log.Error("log store can't go on", "dir", l.dir, "cause", err.message)
	panic(err)
}

// fatalError is what Fatalf panics with.
type fatalError struct {
	dir, message string
	cause        error // nil if pebble named none
}

func (e *fatalError) Error() string {
	return fmt.Sprintf("log store %s can't go on: %s", e.dir, e.message)
}

func (e *fatalError) Unwrap() error { return e.cause }
