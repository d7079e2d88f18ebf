//go:build !linux

package coordinator_test

import (
	"errors"
	"syscall"
)

func breakDisk(string, syscall.Errno) error {
	return errors.New("only Linux lets a process break its own disk")
}
