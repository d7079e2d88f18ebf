//go:build !linux

package coordinator_test

import (
	"errors"
	"os/exec"
)

// ownHostName does nothing: setHostName fails here.
func ownHostName(*exec.Cmd) {}

func setHostName(string) error { return errors.New("a process can't have a host name of its own here") }
