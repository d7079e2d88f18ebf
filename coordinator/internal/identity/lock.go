package identity

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// CheckFree returns ErrInUse if another node has the directory open, and nil if
// nobody has or there is no such directory. It changes nothing.
func CheckFree(dir string) error {
	f, err := os.Open(filepath.Join(dir, lockFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	return errors.Join(lockFor(f, dir), f.Close())
}

// lockDir takes the directory's lock, or fails at once with ErrInUse. The
// lock is flock's, which belongs to the open file: it excludes a second open
// in this process too, and the kernel drops it with the process.
func lockDir(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if err := lockFor(f, dir); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// lockFor locks an open file until it is closed.
func lockFor(f *os.File, dir string) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrInUse
	}
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}
