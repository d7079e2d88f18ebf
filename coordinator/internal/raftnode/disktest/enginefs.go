package disktest

import (
	"os"

	"github.com/lni/vfs"

	"github.com/palisade-go/palisade/coordinator/internal/raftnode"
)

// EngineFS returns the file system of what the engine keeps beside its log.
func (d *Disk) EngineFS() raftnode.FS {
	// The engine takes no other type than this one.
	return vfs.Wrap(engineFS{vfs.Default, d}, harmless{})
}

// harmless is an injector that injects nothing.
type harmless struct{}

// MaybeError implements vfs.Injector.
func (harmless) MaybeError(vfs.Op) error { return nil }

type engineFS struct {
	vfs.FS
	disk *Disk
}

type engineFile struct {
	vfs.File
	disk *Disk
	name string
}

// opened changes the disk by opening a file.
func (f engineFS) opened(name string, open func() (vfs.File, error)) (file vfs.File, err error) {
	err = f.disk.change(func() error {
		file, err = open()
		return err
	})
	if err != nil {
		return nil, err
	}
	return engineFile{file, f.disk, name}, nil
}

func (f engineFS) Create(name string) (vfs.File, error) {
	return f.opened(name, func() (vfs.File, error) { return f.FS.Create(name) })
}

func (f engineFS) OpenForAppend(name string) (vfs.File, error) {
	return f.opened(name, func() (vfs.File, error) { return f.FS.OpenForAppend(name) })
}

func (f engineFS) ReuseForWrite(oldname, newname string) (vfs.File, error) {
	return f.opened(newname, func() (vfs.File, error) { return f.FS.ReuseForWrite(oldname, newname) })
}

func (f engineFS) OpenDir(name string) (vfs.File, error) {
	file, err := f.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return engineFile{file, f.disk, name}, nil
}

func (f engineFS) Link(oldname, newname string) error {
	return f.disk.change(func() error { return f.FS.Link(oldname, newname) })
}

func (f engineFS) Remove(name string) error {
	return f.disk.change(func() error { return f.FS.Remove(name) })
}

func (f engineFS) RemoveAll(name string) error {
	return f.disk.change(func() error { return f.FS.RemoveAll(name) })
}

func (f engineFS) Rename(oldname, newname string) error {
	return f.disk.change(func() error { return f.FS.Rename(oldname, newname) })
}

func (f engineFS) MkdirAll(dir string, perm os.FileMode) error {
	return f.disk.change(func() error { return f.FS.MkdirAll(dir, perm) })
}

func (f engineFile) Write(p []byte) (int, error) { return f.disk.write(f.name, p, f.File.Write) }

func (f engineFile) WriteAt(p []byte, offset int64) (int, error) {
	return f.disk.write(f.name, p, func(p []byte) (int, error) { return f.File.WriteAt(p, offset) })
}

func (f engineFile) Sync() error { return f.disk.change(f.File.Sync) }
