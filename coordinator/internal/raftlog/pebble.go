package raftlog

import (
	"fmt"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/palisade-go/palisade/internal/pebbledb"
)

// Sizes of the database. Memory is bounded by memTableBytes*memTablesMax for the
// memtables, and blockCacheBytes: 40 MiB. A batch that is larger than half a
// memtable adds its own size until it is flushed.
const (
	// memTableBytes is also what is on disk of one write-ahead log. There are
	// memTablesMax+2 of them at most: pebble keeps old ones to write over.
	// Entries that are removed before their memtable is full cost no table.
	memTableBytes    = 8 << 20
	memTablesMax     = 4 // writers are held back while this many wait for the disk
	blockCacheBytes  = 8 << 20
	openFilesMax     = 128
	manifestBytesMax = 1 << 20
	level0Files      = 8       // compact level 0 at this many files even if they do not overlap
	level0Depth      = 4       // and at this many that do
	level0DepthMax   = 24      // writers are held back
	tableBytes       = 4 << 20 // of the tables below level 0
	flushSplitBytes  = 1 << 40 // never
	databaseFormat   = pebble.FormatTableFormatV6
)

// openDatabase opens the database.
//
// Pebble's Open does not return while a flush of what it has replayed fails, as it
// does on a full disk, and does not clean up well when it fails after one. It is
// then left behind: what is to go on is stopped at its next change of the disk, and
// the directory is unlocked. That costs its memory, for as long as the process
// lives.
func openDatabase(dir string, opts *pebble.Options, failure *failure) (*pebble.DB, error) {
	fsys := newDatabaseFS(opts.FS, failure)
	opts.FS = fsys
	turns := &compactionTurns{ConcurrencyLimitScheduler: pebble.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest()}
	opts.Experimental.CompactionScheduler = turns
	var db *pebble.DB
	result := make(chan error, 1)
	go func() {
		opened, err := tryOpen(dir, opts)
		db = opened
		result <- err
	}()
	select {
	case err := <-result:
		if err != nil {
			return nil, err
		}
		if err := failure.opened(); err == nil {
			turns.begin()
			return db, nil
		}
	case <-failure.well.Done():
	}
	fsys.unlock()
	return nil, failure.get()
}

// tryOpen calls pebble's Open and turns what it can tell into typed errors.
func tryOpen(dir string, opts *pebble.Options) (*pebble.DB, error) {
	db, err := pebbledb.Open(dir, opts)
	switch {
	case pebbledb.IsLocked(err):
		return nil, fmt.Errorf("%w: %w", ErrInUse, err)
	case pebble.IsCorruptionError(err):
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	default:
		return db, err
	}
}

// databaseOptions says how pebble is to work. They are not written to disk as a
// contract: only databaseFormat is.
func databaseOptions(fsys vfs.FS, failure *failure, listener *pebble.EventListener, memTable uint64) *pebble.Options {
	opts := &pebble.Options{
		FS:                 fsys,
		Logger:             databaseLog{failure},
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
	// A flush makes one table of all groups. Pebble would split it, and a range that
	// ends what nobody writes to any more, as that of a removed replica, would be a
	// small table in level 0 that no compaction has a reason to take.
	opts.FlushSplitBytes = flushSplitBytes
	opts.TargetFileSizes[0] = 2 * int64(memTable)
	opts.TargetFileSizes[1] = tableBytes // those below double
	// Most entries die in their memtable or in level 0; compressing those costs
	// more than it saves.
	opts.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionNone })
	opts.Experimental.FileCacheShards = 1
	return opts
}

// compactionTurns lets compactions begin when pebble's Open has returned. One that
// it has begun would go on over what Open closes when it fails after that.
//
// One compaction at a time is what pebble's default allows as well. Its scheduler
// keeps a ticker at 10 Hz for limits that change, and leaks it when Open fails; the
// one used here has none, and grants the next when the last is done.
type compactionTurns struct {
	*pebble.ConcurrencyLimitScheduler
	begun atomic.Bool
}

// TrySchedule implements pebble.CompactionScheduler.
func (c *compactionTurns) TrySchedule() (bool, pebble.CompactionGrantHandle) {
	if !c.begun.Load() {
		return false, nil
	}
	return c.ConcurrencyLimitScheduler.TrySchedule()
}

// begin gives a turn to what was refused one. The end of a turn gives the next.
func (c *compactionTurns) begin() {
	c.begun.Store(true)
	if ok, turn := c.TrySchedule(); ok {
		turn.Done()
	}
}

// databaseLog is what pebble logs to.
type databaseLog struct{ failure *failure }

var _ pebble.Logger = databaseLog{}

// Infof drops what pebble has to say about its normal work.
func (databaseLog) Infof(string, ...any) {}

// Errorf implements pebble.Logger.
func (l databaseLog) Errorf(format string, args ...any) {
	l.failure.log.Error(fmt.Sprintf(format, args...), "dir", l.failure.dir)
}

// Fatalf is called when pebble no longer knows what is on disk. It must not
// return, and a library must not call os.Exit as pebble's own logger does.
func (l databaseLog) Fatalf(format string, args ...any) {
	end(l.failure.ofBackground(pebbledb.Fatal(format, args...)))
}
