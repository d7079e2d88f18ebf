package kerneltest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// describe tells what a call is about to do, and whether that is below the root.
func (w *Watch) describe(c call) (Operation, bool, error) {
	switch c.number {
	case unix.SYS_OPENAT:
		return w.onPath(c, Operation{Kind: Open, Flags: int(c.args[2])}, 0)
	case unix.SYS_MKDIRAT:
		return w.onPath(c, Operation{Kind: Mkdir}, 0)
	case unix.SYS_UNLINKAT:
		return w.onPath(c, Operation{Kind: Unlink}, 0)
	case unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		return w.onTwoPaths(c, Rename)
	case unix.SYS_LINKAT:
		return w.onTwoPaths(c, Link)
	case unix.SYS_SYMLINKAT:
		target, err := readText(c.args[0])
		if err != nil {
			return Operation{}, false, err
		}
		return w.onPath(c, Operation{Kind: Symlink, To: target}, 1)
	}
	return w.onFile(c)
}

// onPath is a call whose directory is the argument at, and whose path is the
// next.
func (w *Watch) onPath(c call, o Operation, at int) (Operation, bool, error) {
	path, watched, err := w.path(c.args[at], c.args[at+1])
	o.Path = path
	return o, watched, err
}

func (w *Watch) onTwoPaths(c call, kind Kind) (Operation, bool, error) {
	from, watched, err := w.path(c.args[0], c.args[1])
	if err != nil {
		return Operation{}, false, err
	}
	to, too, err := w.path(c.args[2], c.args[3])
	if err == nil && watched != too {
		err = fmt.Errorf("%v from %s to %s crosses the border of %s", kind, from, to, w.root)
	}
	return Operation{Kind: kind, Path: from, To: to}, watched, err
}

// path returns a path that a call has, relative to the root.
func (w *Watch) path(dir, text uint64) (string, bool, error) {
	path, err := readText(text)
	if err != nil {
		return "", false, err
	}
	if !filepath.IsAbs(path) {
		parent := "/proc/self/cwd"
		if int32(dir) != unix.AT_FDCWD {
			parent = fmt.Sprintf("/proc/self/fd/%d", int32(dir))
		}
		if parent, err = os.Readlink(parent); err != nil {
			return "", false, err
		}
		path = filepath.Join(parent, path)
	}
	path = filepath.Clean(path)
	// What can't be resolved does not exist, and then nothing comes of the call.
	if parent, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil && path != w.root {
		path = filepath.Join(parent, filepath.Base(path))
	}
	below, watched := w.below(path)
	return below, watched, nil
}

func (w *Watch) onFile(c call) (Operation, bool, error) {
	fd := int(int32(c.args[0]))
	o := Operation{File: fd, Path: w.opened[fd]}
	var err error
	switch c.number {
	case unix.SYS_WRITE:
		o.Kind = Write
		if o.Offset, err = w.position(fd); err == nil {
			o.Data, err = readMemory(c.args[1], c.args[2])
		}
	case unix.SYS_PWRITE64:
		o.Kind, o.Offset = Write, int64(c.args[3])
		o.Data, err = readMemory(c.args[1], c.args[2])
	case unix.SYS_FSYNC, unix.SYS_FDATASYNC:
		o.Kind = Sync
	case unix.SYS_FTRUNCATE:
		o.Kind, o.Size = Truncate, int64(c.args[1])
	case unix.SYS_FALLOCATE:
		o.Kind = Allocate
		if c.args[1] != unix.FALLOC_FL_KEEP_SIZE {
			err = fmt.Errorf("fallocate with mode %d is not modelled", c.args[1])
		}
	case unix.SYS_SYNC_FILE_RANGE:
		o.Kind = Allocate // it makes nothing durable
	case unix.SYS_READ, unix.SYS_PREAD64:
		o.Kind = Read
	case unix.SYS_GETDENTS64:
		o.Kind = List
	default:
		err = fmt.Errorf("call %d is caught but not known", c.number)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", o.Path, err)
	}
	return o, true, err
}

// position returns where a write without an offset goes to.
func (w *Watch) position(fd int) (int64, error) {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return 0, err
	}
	if flags&unix.O_APPEND == 0 {
		return unix.Seek(fd, 0, unix.SEEK_CUR)
	}
	var stat unix.Stat_t
	err = unix.Fstat(fd, &stat)
	return stat.Size, err
}

// readMemory copies memory of this process as the kernel does, so that the race
// detector takes no part in it: the caller waits meanwhile.
func readMemory(at, length uint64) ([]byte, error) {
	data := make([]byte, length)
	if length == 0 {
		return data, nil
	}
	local := unix.Iovec{Base: &data[0], Len: length}
	n, err := unix.ProcessVMReadv(os.Getpid(), []unix.Iovec{local}, []unix.RemoteIovec{{Base: uintptr(at), Len: int(length)}}, 0)
	if err != nil {
		return nil, fmt.Errorf("read the process's memory: %w", err)
	}
	return data[:n], nil
}

// readText copies a text that ends with a zero byte. It reads no further than
// to the end of a page, as the next may not exist.
func readText(at uint64) (string, error) {
	page := uint64(os.Getpagesize())
	var text []byte
	for {
		part, err := readMemory(at, page-at%page)
		if err != nil {
			return "", err
		}
		if end := bytes.IndexByte(part, 0); end >= 0 {
			return string(append(text, part[:end]...)), nil
		}
		text, at = append(text, part...), at+uint64(len(part))
	}
}
