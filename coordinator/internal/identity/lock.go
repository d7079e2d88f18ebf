package identity

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// lockDir takes the directory's lock, or fails at once with ErrInUse. The
// lock is flock's, which belongs to the open file: it excludes a second open
// in this process too, and the kernel drops it with the process.
func lockDir(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return f, nil
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrInUse
	}
	return nil, errors.Join(fmt.Errorf("%s: %w", dir, err), f.Close())
}
