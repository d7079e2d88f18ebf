package postgres

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	osuser "os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account returns the system's account that runs the server for root.
func account() (*syscall.Credential, error) {
	found, err := osuser.Lookup(user)
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(found.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(found.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// command is one of PostgreSQL's programs, to be run by somebody it accepts.
func command(program string, args ...string) (*exec.Cmd, error) {
	cmd := exec.Command(filepath.Join(programs(), program), args...)
	if os.Getuid() != 0 {
		return cmd, nil
	}
	as, err := account()
	if err != nil {
		return nil, err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	return cmd, nil
}

// initialize makes the files of a server below a directory.
func initialize(ctx context.Context, dir string) error {
	if os.Getuid() == 0 {
		as, err := account()
		if err != nil {
			return err
		}
		if err := os.Chown(dir, int(as.Uid), int(as.Gid)); err != nil {
			return err
		}
		// Made by os.MkdirTemp for root alone.
		if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil {
			return err
		}
	}
	cmd, err := command("initdb", "-D", filepath.Join(dir, "data"), "-U", user, "-A", "trust", "-E", "UTF8")
	if err != nil {
		return err
	}
	cmd.Dir = dir
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, said)
	}
	return ctx.Err()
}
