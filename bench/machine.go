package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/palisade-go/palisade/bench/report"
)

// describe notes where and how the run takes place.
func (r *run) describe(began time.Time) {
	r.results.Began = began.UTC().Truncate(time.Second)
	r.results.Machine = report.Machine{
		Processor:   field("/proc/cpuinfo", "model name"),
		Cores:       runtime.NumCPU(),
		MemoryBytes: memory(),
		Kernel:      firstWord("/proc/sys/kernel/osrelease"),
		Go:          runtime.Version(),
		FileSystem:  fileSystem(r.base),
		LoadBefore:  load(),
	}
	r.results.Revision = revision()
	r.results.Settings = map[string]string{
		"rounds": strconv.Itoa(r.rounds), "for": r.trial.For.String(), "warm": r.trial.Warm.String(),
		"idle": r.trial.Idle.String(), "leases": strconv.Itoa(r.trial.Leases), "waiters": strconv.Itoa(r.trial.Waiters),
	}
}

// field returns the value of a line "name : value" of a file, "" if it has none.
func field(file, name string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		key, value, found := strings.Cut(lines.Text(), ":")
		if found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func firstWord(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	word, _, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	return word
}

func memory() uint64 {
	kilobytes, _, _ := strings.Cut(field("/proc/meminfo", "MemTotal"), " ")
	n, _ := strconv.ParseUint(kilobytes, 10, 64) // 0: not known
	return n << 10
}

func load() float64 {
	n, _ := strconv.ParseFloat(firstWord("/proc/loadavg"), 64) // 0: not known
	return n
}

// fileSystem names the file system of a directory as the mount table has it.
func fileSystem(dir string) string {
	var wanted unix.Stat_t
	if err := unix.Stat(dir, &wanted); err != nil {
		return ""
	}
	device := fmt.Sprintf("%d:%d", unix.Major(wanted.Dev), unix.Minor(wanted.Dev))
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		mount, source, found := strings.Cut(line, " - ")
		fields := strings.Fields(mount)
		if found && len(fields) > 2 && fields[2] == device {
			kind, _, _ := strings.Cut(source, " ")
			return kind
		}
	}
	return ""
}

// revision names the commit of the checkout, with a plus sign when files differ
// from it; "" when git does not know.
func revision() string {
	commit, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return ""
	}
	name := strings.TrimSpace(string(commit))
	changed, err := exec.Command("git", "status", "--porcelain").Output()
	if err == nil && len(changed) > 0 {
		name += "+"
	}
	return name
}
