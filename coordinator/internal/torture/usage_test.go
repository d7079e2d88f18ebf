package torture

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// usage is what a node takes of the machine.
type usage struct {
	memory     int // resident, in KiB; 0: not known
	files      int // open; 0: not known
	goroutines int
	disk       int64 // bytes of the data directory
}

// String tells it in a line.
func (u usage) String() string {
	return fmt.Sprintf("%d MiB resident, %d goroutines, %d open files, %d KiB on disk", u.memory>>10, u.goroutines, u.files, u.disk>>10)
}

// max returns the greater of each.
func (u usage) max(o usage) usage {
	return usage{max(u.memory, o.memory), max(u.files, o.files), max(u.goroutines, o.goroutines), max(u.disk, o.disk)}
}

// measure says what the process of a node uses. What is read is that of Linux;
// elsewhere memory and files are not known.
func (f *fleet) measure(node int) (usage, error) {
	p := f.running[node]
	u := usage{goroutines: p.sample.Goroutines}
	proc := filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid))
	if status, err := os.ReadFile(filepath.Join(proc, "status")); err == nil {
		for _, line := range strings.Split(string(status), "\n") {
			if rest, found := strings.CutPrefix(line, "VmRSS:"); found {
				u.memory, _ = strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			}
		}
	}
	if open, err := os.ReadDir(filepath.Join(proc, "fd")); err == nil {
		u.files = len(open)
	}
	err := filepath.WalkDir(f.data(node), func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			var info fs.FileInfo
			if info, err = entry.Info(); err == nil {
				u.disk += info.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the node removes files while it runs
		}
		return err
	})
	return u, err
}
