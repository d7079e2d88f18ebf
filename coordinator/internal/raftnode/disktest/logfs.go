package disktest

import (
	"os"

	"github.com/lni/vfs"

	"github.com/palisade-go/palisade/coordinator/internal/raftnode"
)

// LogFS returns the file system of the Raft log.
func (d *Disk) LogFS() raftnode.FS {
	// The engine takes no other type than this one.
	return vfs.Wrap(logFS{vfs.Default, d}, harmless{})
}

// harmless is an injector that injects nothing.
type harmless struct{}

// MaybeError implements vfs.Injector.
func (harmless) MaybeError(vfs.Op) error { return nil }

type logFS struct {
	vfs.FS
	disk *Disk
}

type logFile struct {
	vfs.File
	disk *Disk
	name string
}

// opened changes the disk by opening a file.
func (f logFS) opened(name string, open func() (vfs.File, error)) (file vfs.File, err error) {
	err = f.disk.change(func() error {
		file, err = open()
		return err
	})
	if err != nil {
		return nil, err
	}
	return logFile{file, f.disk, name}, nil
}

func (f logFS) Create(name string) (vfs.File, error) {
	return f.opened(name, func() (vfs.File, error) { return f.FS.Create(name) })
}

func (f logFS) OpenForAppend(name string) (vfs.File, error) {
	return f.opened(name, func() (vfs.File, error) { return f.FS.OpenForAppend(name) })
}

func (f logFS) ReuseForWrite(oldname, newname string) (vfs.File, error) {
	return f.opened(newname, func() (vfs.File, error) { return f.FS.ReuseForWrite(oldname, newname) })
}

func (f logFS) OpenDir(name string) (vfs.File, error) {
	file, err := f.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return logFile{file, f.disk, name}, nil
}

func (f logFS) Link(oldname, newname string) error {
	return f.disk.change(func() error { return f.FS.Link(oldname, newname) })
}

func (f logFS) Remove(name string) error {
	return f.disk.change(func() error { return f.FS.Remove(name) })
}

func (f logFS) RemoveAll(name string) error {
	return f.disk.change(func() error { return f.FS.RemoveAll(name) })
}

func (f logFS) Rename(oldname, newname string) error {
	return f.disk.change(func() error { return f.FS.Rename(oldname, newname) })
}

func (f logFS) MkdirAll(dir string, perm os.FileMode) error {
	return f.disk.change(func() error { return f.FS.MkdirAll(dir, perm) })
}

func (f logFile) Write(p []byte) (int, error) { return f.disk.write(f.name, p, f.File.Write) }

func (f logFile) WriteAt(p []byte, offset int64) (int, error) {
	return f.disk.write(f.name, p, func(p []byte) (int, error) { return f.File.WriteAt(p, offset) })
}

func (f logFile) Sync() error { return f.disk.change(f.File.Sync) }
