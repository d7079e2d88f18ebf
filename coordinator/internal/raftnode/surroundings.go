package raftnode

import (
	"fmt"
	"os"
	"path/filepath"
)

// CheckSurroundings refuses a process in which the engine can't be opened,
// whatever its Config: a stray settings file in the working directory, or a
// host name that can't be a name in the directory. It changes nothing, so that
// a caller can ask before it makes a directory. Open checks the same.
//
// Errors: ErrStraySettings, ErrHostName.
func CheckSurroundings() error {
	if err := checkWorkingDirectory(); err != nil {
		return err
	}
	_, err := hostName()
	return err
}

// checkWorkingDirectory refuses files that the engine reads when the program
// starts, and that would change constants which decide what is on disk.
func checkWorkingDirectory() error {
	found, err := filepath.Glob("dragonboat-*-settings.json")
	if err != nil {
		return fmt.Errorf("raftnode: look into the working directory: %w", err)
	}
	if len(found) == 0 {
		return nil
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	return fmt.Errorf("%w: %s: remove it, or start in another directory",
		ErrStraySettings, filepath.Join(dir, found[0]))
}

// hostName returns the name of this host, if the engine can use it.
func hostName() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrHostName, err)
	}
	return host, checkHostName(host)
}
