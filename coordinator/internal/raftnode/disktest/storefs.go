package disktest

import (
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// StoreFS returns the file system of the machines' store.
func (d *Disk) StoreFS() vfs.FS { return storeFS{vfs.Default, d} }

type storeFS struct {
	vfs.FS
	disk *Disk
}

type storeFile struct {
	vfs.File
	disk *Disk
	name string
}

// opened changes the disk by opening a file.
func (f storeFS) opened(name string, open func() (vfs.File, error)) (file vfs.File, err error) {
	err = f.disk.change(func() error {
		file, err = open()
		return err
	})
	if err != nil {
		return nil, err
	}
	return storeFile{file, f.disk, name}, nil
}

func (f storeFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return f.opened(name, func() (vfs.File, error) { return f.FS.Create(name, category) })
}

func (f storeFS) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return f.opened(name, func() (vfs.File, error) { return f.FS.OpenReadWrite(name, category, opts...) })
}

func (f storeFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return f.opened(newname, func() (vfs.File, error) { return f.FS.ReuseForWrite(oldname, newname, category) })
}

func (f storeFS) OpenDir(name string) (vfs.File, error) {
	file, err := f.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return storeFile{file, f.disk, name}, nil
}

func (f storeFS) Link(oldname, newname string) error {
	return f.disk.change(func() error { return f.FS.Link(oldname, newname) })
}

func (f storeFS) Remove(name string) error {
	return f.disk.change(func() error { return f.FS.Remove(name) })
}

func (f storeFS) RemoveAll(name string) error {
	return f.disk.change(func() error { return f.FS.RemoveAll(name) })
}

func (f storeFS) Rename(oldname, newname string) error {
	return f.disk.change(func() error { return f.FS.Rename(oldname, newname) })
}

func (f storeFS) MkdirAll(dir string, perm os.FileMode) error {
	return f.disk.change(func() error { return f.FS.MkdirAll(dir, perm) })
}

// Unwrap implements vfs.FS.
func (f storeFS) Unwrap() vfs.FS { return f.FS }

func (f storeFile) Write(p []byte) (int, error) { return f.disk.write(f.name, p, f.File.Write) }

func (f storeFile) WriteAt(p []byte, offset int64) (int, error) {
	return f.disk.write(f.name, p, func(p []byte) (int, error) { return f.File.WriteAt(p, offset) })
}

// Preallocate does nothing: room is taken by what is written.
func (f storeFile) Preallocate(int64, int64) error { return nil }

func (f storeFile) Sync() error { return f.disk.change(f.File.Sync) }

func (f storeFile) SyncData() error { return f.disk.change(f.File.SyncData) }

func (f storeFile) SyncTo(length int64) (full bool, err error) {
	err = f.disk.change(func() error {
		full, err = f.File.SyncTo(length)
		return err
	})
	return full, err
}
