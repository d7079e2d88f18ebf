package peer

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// memoryFS are the file systems that have no disk below them, by the number
// that statfs gives.
var memoryFS = map[int64]string{
	unix.TMPFS_MAGIC:     "tmpfs",
	unix.RAMFS_MAGIC:     "ramfs",
	unix.HUGETLBFS_MAGIC: "hugetlbfs",
}

// CheckDisk refuses a directory that is in memory: a sync costs nothing there,
// and who syncs most would look as good as who syncs least.
func CheckDisk(dir string) error {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return fmt.Errorf("look at the file system of %s: %w", dir, err)
	}
	if name, inMemory := memoryFS[int64(fs.Type)]; inMemory {
		return fmt.Errorf("%s is on a %s, where syncs cost nothing: give a directory on a disk with -dir", dir, name)
	}
	return nil
}
