package coordinator_test

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownHostName lets a process have a host name of its own.
func ownHostName(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUTS}
}

func setHostName(name string) error { return unix.Sethostname([]byte(name)) }
