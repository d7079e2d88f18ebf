package pebbledb

import (
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// FS is what pebble sees of the file system of one database. It hides how full the
// disk is, and the first failed sync of a directory is final.
type FS struct {
	vfs.FS
	names *nameSyncs
}

// NewFS returns the file system of a database that is on fsys.
func NewFS(fsys vfs.FS) FS { return FS{fsys, &nameSyncs{}} }

// GetDiskUsage implements vfs.FS. Pebble asks in order to pace its deletions, which
// is off, and would report a failure to find out as it reports a flush that failed.
func (FS) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{}, vfs.ErrUnsupported
}

// Unwrap returns the file system below, for pebble's inspection.
func (f FS) Unwrap() vfs.FS { return f.FS }

// OpenDir implements vfs.FS.
func (f FS) OpenDir(name string) (vfs.File, error) {
	dir, err := f.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return directory{dir, f.names}, nil
}

// nameSyncs are the syncs of the directories of a database, through all their
// handles. The first that fails is the last.
//
// A sync makes the names of all new files durable, whoever made them, and what
// one that failed was to make durable is lost, though the next succeeds. A
// compaction and a flush sync at the same time. Were the flush to ask after the
// compaction's sync had failed, it would be told that its table is durable, and
// be done before pebble has reported the compaction.
type nameSyncs struct {
	mu  sync.Mutex
	err error // of the first that failed
}

type directory struct {
	vfs.File
	names *nameSyncs
}

// Sync returns the error of the first sync that failed. It waits for those that
// run, for one of them may fail.
func (d directory) Sync() error {
	d.names.mu.Lock()
	defer d.names.mu.Unlock()
	if d.names.err == nil {
		d.names.err = d.File.Sync()
	}
	return d.names.err
}
