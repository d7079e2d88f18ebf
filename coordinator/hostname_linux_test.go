package coordinator_test

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownHostName lets a process have a host name of its own: in a namespace for
// it, and in one of users too where that takes no privilege.
func ownHostName(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUTS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	}
}

func setHostName(name string) error { return unix.Sethostname([]byte(name)) }

// hostNamesCanBeSet tries it out: containers often forbid it.
func hostNamesCanBeSet() error {
	cmd := exec.Command("true")
	ownHostName(cmd)
	return cmd.Run()
}
