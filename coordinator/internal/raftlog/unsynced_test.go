package raftlog

import "github.com/cockroachdb/pebble/v2/vfs"

// unsynced is the operating system's file system, with syncs that do nothing. What
// a process has written survives its end without them, and they are slow.
type unsynced struct{ vfs.FS }

func newUnsynced() vfs.FS { return unsynced{vfs.Default} }

func (u unsynced) wrap(file vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return unsyncedFile{file}, nil
}

func (u unsynced) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return u.wrap(u.FS.Create(name, category))
}

func (u unsynced) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return u.wrap(u.FS.ReuseForWrite(from, to, category))
}

func (u unsynced) OpenDir(name string) (vfs.File, error) { return u.wrap(u.FS.OpenDir(name)) }

type unsyncedFile struct{ vfs.File }

func (unsyncedFile) Sync() error                { return nil }
func (unsyncedFile) SyncData() error            { return nil }
func (unsyncedFile) SyncTo(int64) (bool, error) { return true, nil }
