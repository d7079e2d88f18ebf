package diskspace

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Gauge returns how many bytes a process without privileges may still write
// to the file system of a directory.
type Gauge func(dir string) (uint64, error)

// Free is the Gauge of the operating system. Of a directory that does not
// exist yet it takes the nearest parent that does. It makes one system call
// for each that it looks at, which does not wait for the disk.
func Free(dir string) (uint64, error) {
	for {
		var stat unix.Statfs_t
		err := unix.Statfs(dir, &stat)
		parent := filepath.Dir(dir)
		switch {
		case err == nil:
			return available(stat.Blocks, stat.Bavail, fragmentBytes(&stat)), nil
		case errors.Is(err, unix.EINTR):
			// The Go runtime's own signals can interrupt it.
		case errors.Is(err, fs.ErrNotExist) && parent != dir:
			dir = parent
		default:
			return 0, fmt.Errorf("free disk space: %w", &fs.PathError{Op: "statfs", Path: dir, Err: err})
		}
	}
}

// available returns the bytes of free blocks. Some file systems in user space
// say nothing of their size, not even how many blocks there are: they are
// never taken for full.
func available(blocks, free, blockBytes uint64) uint64 {
	if blocks == 0 || free > math.MaxUint64/max(blockBytes, 1) {
		return math.MaxUint64
	}
	return free * blockBytes
}

// Check returns an *Error if a node must not open in dir, which need not
// exist. It changes nothing.
func Check(gauge Gauge, dir string) error {
	free, err := gauge(dir)
	if err != nil {
		return err
	}
	if free < Needed {
		return &Error{Dir: dir, FreeBytes: free, NeededBytes: Needed}
	}
	return nil
}
