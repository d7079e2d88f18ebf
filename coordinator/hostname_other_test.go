//go:build !linux

package coordinator_test

import (
	"errors"
	"os/exec"
)

var errOneHostName = errors.New("all processes of this system have one host name")

func ownHostName(*exec.Cmd)    {}
func setHostName(string) error { return errOneHostName }

func hostNamesCanBeSet() error { return errOneHostName }
