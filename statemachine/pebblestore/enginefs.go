package pebblestore

import (
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// engineFS is what the engine of one store sees of the file system.
type engineFS struct {
	vfs.FS
	names *nameSyncs
}

func newEngineFS(fsys vfs.FS) engineFS { return engineFS{fsys, &nameSyncs{}} }

// GetDiskUsage hides how full the disk is. The engine asks in order to pace its
// deletions, which is off, and would report a failure to find out as it reports
// a flush that failed.
func (engineFS) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{}, vfs.ErrUnsupported
}

// Unwrap returns the file system below, for the engine's inspection.
func (e engineFS) Unwrap() vfs.FS { return e.FS }

// OpenDir opens a directory whose syncs are among those of the store.
func (e engineFS) OpenDir(name string) (vfs.File, error) {
	dir, err := e.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return engineDir{dir, e.names}, nil
}

// nameSyncs are the syncs of the store's directory, through all its handles. The
// first that fails is the last.
//
// A sync makes the names of all new files durable, whoever made them, and what
// one that failed was to make durable is lost, though the next succeeds. A
// compaction and a flush sync at the same time. Were the flush to ask after the
// compaction's sync had failed, it would be told that its table is durable, and
// be done before the engine has reported the compaction.
type nameSyncs struct {
	mu  sync.Mutex
	err error // of the first that failed
}

type engineDir struct {
	vfs.File
	names *nameSyncs
}

// Sync returns the error of the first sync that failed. It waits for those that
// run, for one of them may fail.
func (d engineDir) Sync() error {
	d.names.mu.Lock()
	defer d.names.mu.Unlock()
	if d.names.err == nil {
		d.names.err = d.File.Sync()
	}
	return d.names.err
}
