package identity

import (
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// checkAccess returns an error that names the first place below dir that this
// process may not use as the stores do: they make, rename and delete files in
// every directory, lock theirs, and read every file. They find out by
// themselves only later, in the background, and then end the process, or take
// it for something else.
func checkAccess(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("data directory: %w", err)
		}
		var needed uint32 = unix.R_OK
		switch {
		case entry.IsDir():
			needed |= unix.W_OK | unix.X_OK
		case entry.Name() == lockFile: // each store has its own
			needed |= unix.W_OK
		case !entry.Type().IsRegular():
			return nil
		}
		if err := unix.Faccessat(unix.AT_FDCWD, path, needed, unix.AT_EACCESS); err != nil {
			return fmt.Errorf("data directory: %w", &fs.PathError{Op: "access", Path: path, Err: err})
		}
		return nil
	})
}
