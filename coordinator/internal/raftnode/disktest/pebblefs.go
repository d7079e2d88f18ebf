package disktest

import (
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// PebbleFS returns the file system of the two stores, the log's and the machines'.
func (d *Disk) PebbleFS() vfs.FS { return pebbleFS{vfs.Default, d} }

type pebbleFS struct {
	vfs.FS
	disk *Disk
}

type pebbleFile struct {
	vfs.File
	disk *Disk
	name string
}

// opened changes the disk by opening a file.
func (f pebbleFS) opened(name string, open func() (vfs.File, error)) (file vfs.File, err error) {
	err = f.disk.change(func() error {
		file, err = open()
		return err
	})
	if err != nil {
		return nil, err
	}
	return pebbleFile{file, f.disk, name}, nil
}

func (f pebbleFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return f.opened(name, func() (vfs.File, error) { return f.FS.Create(name, category) })
}

func (f pebbleFS) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return f.opened(name, func() (vfs.File, error) { return f.FS.OpenReadWrite(name, category, opts...) })
}

func (f pebbleFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return f.opened(newname, func() (vfs.File, error) { return f.FS.ReuseForWrite(oldname, newname, category) })
}

func (f pebbleFS) OpenDir(name string) (vfs.File, error) {
	file, err := f.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return pebbleFile{file, f.disk, name}, nil
}

func (f pebbleFS) Link(oldname, newname string) error {
	return f.disk.change(func() error { return f.FS.Link(oldname, newname) })
}

func (f pebbleFS) Remove(name string) error {
	return f.disk.change(func() error { return f.FS.Remove(name) })
}

func (f pebbleFS) RemoveAll(name string) error {
	return f.disk.change(func() error { return f.FS.RemoveAll(name) })
}

func (f pebbleFS) Rename(oldname, newname string) error {
	return f.disk.change(func() error { return f.FS.Rename(oldname, newname) })
}

func (f pebbleFS) MkdirAll(dir string, perm os.FileMode) error {
	return f.disk.change(func() error { return f.FS.MkdirAll(dir, perm) })
}

// Unwrap implements vfs.FS.
func (f pebbleFS) Unwrap() vfs.FS { return f.FS }

func (f pebbleFile) Write(p []byte) (int, error) { return f.disk.write(f.name, p, f.File.Write) }

func (f pebbleFile) WriteAt(p []byte, offset int64) (int, error) {
	return f.disk.write(f.name, p, func(p []byte) (int, error) { return f.File.WriteAt(p, offset) })
}

// Preallocate does nothing: room is taken by what is written.
func (f pebbleFile) Preallocate(int64, int64) error { return nil }

func (f pebbleFile) Sync() error { return f.disk.change(f.File.Sync) }

func (f pebbleFile) SyncData() error { return f.disk.change(f.File.SyncData) }

func (f pebbleFile) SyncTo(length int64) (full bool, err error) {
	err = f.disk.change(func() error {
		full, err = f.File.SyncTo(length)
		return err
	})
	return full, err
}
