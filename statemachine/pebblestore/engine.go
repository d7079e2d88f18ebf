package pebblestore

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"

	"github.com/palisade-go/palisade/internal/pebbledb"
)

// Sizes of the engine. An image holds what is held and awaited now, so a store
// is small: megabytes, with a high turnover.
const (
	memTableBytes    = 8 << 20
	memTablesMax     = 4 // commits are held back while this many wait for the disk
	blockCacheBytes  = 8 << 20
	openFilesMax     = 128
	manifestBytesMax = 1 << 20
	level0Files      = 8  // compact level 0 at this many files even if they do not overlap
	level0Depth      = 4  // and at this many that do
	level0DepthMax   = 24 // commits are held back
	engineFormat     = pebble.FormatTableFormatV6
)

// openEngine opens the database and turns what it can tell into typed errors.
func openEngine(path string, opts *pebble.Options) (*pebble.DB, error) {
	db, err := pebbledb.Open(path, opts)
	switch {
	case pebbledb.IsLocked(err):
		return nil, fmt.Errorf("%w: %w", ErrInUse, err)
	case pebble.IsCorruptionError(err):
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	default:
		return db, err
	}
}

// engineOptions says how the engine is to work. They are not written to disk as
// a contract: only engineFormat is.
func engineOptions(fsys vfs.FS, failure *failure, memTable uint64) *pebble.Options {
	opts := &pebble.Options{
		FS:                 pebbledb.NewFS(fsys),
		Logger:             engineLog{dir: failure.dir, log: failure.log},
		EventListener:      failure.listener(),
		FormatMajorVersion: engineFormat,

		// The Raft log is the write-ahead log.
		DisableWAL:                  true,
		MemTableSize:                memTable,
		MemTableStopWritesThreshold: memTablesMax,

		CacheSize:           blockCacheBytes,
		MaxOpenFiles:        openFilesMax,
		MaxManifestFileSize: manifestBytesMax,

		// A lease leaves a tombstone when it ends, mostly over a record that
		// never reached the disk. Tombstones go when they are compacted into
		// the lowest level, so level 0 is compacted early.
		L0CompactionFileThreshold: level0Files,
		L0CompactionThreshold:     level0Depth,
		L0StopWritesThreshold:     level0DepthMax,
	}
	opts.Experimental.FileCacheShards = 1
	// One compaction at a time is what the default allows as well. Its scheduler
	// keeps a ticker at 10 Hz for limits that change, and leaks it when Open
	// fails; this one has none, and grants the next when the last is done.
	opts.Experimental.CompactionScheduler = pebble.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest()
	return opts
}

// checkEngineFormat refuses a directory that a later version of this package has
// brought to a later format of the engine. The engine itself would go on with
// those that it knows.
func checkEngineFormat(fsys vfs.FS, path string) error {
	text, err := atomicfs.ReadMarker(fsys, path, engineFormatMarker)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if text == "" {
		return nil
	}
	format, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return fmt.Errorf("%w: engine format %q, this binary knows format %d", ErrFormat, text, engineFormat)
	}
	if format > uint64(engineFormat) {
		return fmt.Errorf("%w: the engine's files have format %d, this binary knows format %d", ErrFormat, format, engineFormat)
	}
	return nil
}
