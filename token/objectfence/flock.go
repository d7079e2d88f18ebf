//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package objectfence

import (
	"errors"
	"os"
	"syscall"
)

// lock takes a lock that the kernel takes back when the process ends. Each call
// opens the file for itself, so that it excludes other callers of the process
// too.
func (d osDisk) lock() (unlock func() error, locked bool, err error) {
	file, err := os.OpenFile(d.path(lockFile), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, false, err
	}
	for {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	switch {
	case err == nil:
		return file.Close, true, nil // closing gives the lock back
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, false, file.Close()
	default:
		return nil, false, errors.Join(&os.PathError{Op: "flock", Path: file.Name(), Err: err}, file.Close())
	}
}
