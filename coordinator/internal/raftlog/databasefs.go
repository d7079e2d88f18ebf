package raftlog

import (
	"io"
	"os"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/palisade-go/palisade/internal/pebbledb"
)

// databaseFS is a file system for pebble that does two things more. It shows every
// error in changing the disk to failure, and it can give up pebble's lock.
type databaseFS struct {
	vfs.FS
	failure *failure

	mu   sync.Mutex
	lock io.Closer // nil: not locked
}

func newDatabaseFS(fsys vfs.FS, failure *failure) *databaseFS {
	return &databaseFS{FS: pebbledb.NewFS(fsys), failure: failure}
}

// change makes a change of the names on the disk.
func (d *databaseFS) change(fn func() error) error {
	d.failure.stopLeftBehind()
	return d.failure.ofFile(fn(), false)
}

// open opens a file for writing.
func (d *databaseFS) open(name string, fn func() (vfs.File, error)) (vfs.File, error) {
	d.failure.stopLeftBehind()
	isLog := strings.HasSuffix(name, ".log")
	file, err := fn()
	if d.failure.ofFile(err, isLog) != nil {
		return nil, err
	}
	return &databaseFile{File: file, failure: d.failure, isLog: isLog}, nil
}

// Create implements vfs.FS.
func (d *databaseFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return d.open(name, func() (vfs.File, error) { return d.FS.Create(name, category) })
}

// ReuseForWrite implements vfs.FS.
func (d *databaseFS) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return d.open(to, func() (vfs.File, error) { return d.FS.ReuseForWrite(from, to, category) })
}

// OpenReadWrite implements vfs.FS.
func (d *databaseFS) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return d.open(name, func() (vfs.File, error) { return d.FS.OpenReadWrite(name, category, opts...) })
}

// OpenDir implements vfs.FS. The directory is synced for each new log.
func (d *databaseFS) OpenDir(name string) (vfs.File, error) {
	dir, err := d.FS.OpenDir(name)
	if d.failure.ofFile(err, false) != nil {
		return nil, err
	}
	return &databaseFile{File: dir, failure: d.failure, isLog: true}, nil
}

// Link implements vfs.FS.
func (d *databaseFS) Link(from, to string) error {
	return d.change(func() error { return d.FS.Link(from, to) })
}

// Remove implements vfs.FS.
func (d *databaseFS) Remove(name string) error {
	return d.change(func() error { return d.FS.Remove(name) })
}

// RemoveAll implements vfs.FS.
func (d *databaseFS) RemoveAll(name string) error {
	return d.change(func() error { return d.FS.RemoveAll(name) })
}

// Rename implements vfs.FS.
func (d *databaseFS) Rename(from, to string) error {
	return d.change(func() error { return d.FS.Rename(from, to) })
}

// MkdirAll implements vfs.FS.
func (d *databaseFS) MkdirAll(name string, mode os.FileMode) error {
	return d.change(func() error { return d.FS.MkdirAll(name, mode) })
}

// List implements vfs.FS. It changes nothing, but pebble's Open fails with it.
func (d *databaseFS) List(name string) ([]string, error) {
	names, err := d.FS.List(name)
	return names, d.failure.ofFile(err, false)
}

// Lock implements vfs.FS.
func (d *databaseFS) Lock(name string) (io.Closer, error) {
	lock, err := d.FS.Lock(name)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lock = lock
	return lock, err
}

// unlock gives up the lock of a database that is left behind. If that fails, the
// end of the process does it.
func (d *databaseFS) unlock() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lock != nil {
		_ = d.lock.Close()
	}
}

// Unwrap returns the file system below, for pebble's inspection.
func (d *databaseFS) Unwrap() vfs.FS { return d.FS }

// databaseFile is a file that is being written, or a directory. Preallocate is
// left alone: not every file system can, and pebble goes on without.
type databaseFile struct {
	vfs.File
	failure *failure
	isLog   bool
}

// Write implements vfs.File.
func (f *databaseFile) Write(p []byte) (int, error) {
	f.failure.stopLeftBehind()
	n, err := f.File.Write(p)
	return n, f.failure.ofFile(err, f.isLog)
}

// WriteAt implements vfs.File.
func (f *databaseFile) WriteAt(p []byte, offset int64) (int, error) {
	f.failure.stopLeftBehind()
	n, err := f.File.WriteAt(p, offset)
	return n, f.failure.ofFile(err, f.isLog)
}

// Stat implements vfs.File. Pebble asks a log that it uses again for its size.
func (f *databaseFile) Stat() (vfs.FileInfo, error) {
	info, err := f.File.Stat()
	return info, f.failure.ofFile(err, f.isLog)
}

// Sync implements vfs.File.
func (f *databaseFile) Sync() error { return f.failure.ofFile(f.File.Sync(), f.isLog) }

// SyncTo implements vfs.File.
func (f *databaseFile) SyncTo(length int64) (bool, error) {
	full, err := f.File.SyncTo(length)
	return full, f.failure.ofFile(err, f.isLog)
}

// SyncData implements vfs.File.
func (f *databaseFile) SyncData() error { return f.failure.ofFile(f.File.SyncData(), f.isLog) }

// Close implements vfs.File.
func (f *databaseFile) Close() error { return f.failure.ofFile(f.File.Close(), f.isLog) }
