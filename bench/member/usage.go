package member

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is the unit of CPU time in /proc. It is the same on all
// architectures that Go runs Linux on.
const ticksPerSecond = 100

// Usage is what some processes have used since they were started.
type Usage struct {
	CPU time.Duration
	// Written are the bytes that they caused to be sent to the disk. The file
	// system's own journal is not in it.
	Written uint64
}

// Sub returns what was used since an earlier look.
func (u Usage) Sub(earlier Usage) Usage {
	return Usage{CPU: u.CPU - earlier.CPU, Written: u.Written - earlier.Written}
}

// UsageOf adds up what processes have used, and all that descend from them and
// run.
func UsageOf(pids []int) (Usage, error) {
	all, err := descendants(pids)
	if err != nil {
		return Usage{}, err
	}
	var sum Usage
	for _, pid := range all {
		stat, err := statOf(pid)
		if err != nil {
			return Usage{}, err
		}
		written, err := writtenBy(pid)
		if err != nil {
			return Usage{}, err
		}
		sum.CPU += stat.cpu
		sum.Written += written
	}
	return sum, nil
}

// stat is some of /proc/pid/stat.
type stat struct {
	parent int
	cpu    time.Duration
}

func statOf(pid int) (stat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	return parseStat(text)
}

// parseStat reads the fields behind the program's name, which may contain
// spaces and parentheses.
func parseStat(text []byte) (stat, error) {
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const parent, user, system = 1, 11, 12 // from the state, which is the third of all
	if len(fields) <= system {
		return stat{}, fmt.Errorf("member: %q is no process state", text)
	}
	var numbers [3]int
	for i, at := range []int{parent, user, system} {
		n, err := strconv.Atoi(fields[at])
		if err != nil {
			return stat{}, fmt.Errorf("member: a process state: %w", err)
		}
		numbers[i] = n
	}
	ticks := time.Duration(numbers[1] + numbers[2])
	return stat{numbers[0], ticks * time.Second / ticksPerSecond}, nil
}

func writtenBy(pid int) (uint64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if n, ok := strings.CutPrefix(line, "write_bytes: "); ok {
			return strconv.ParseUint(strings.TrimSpace(n), 10, 64)
		}
	}
	return 0, fmt.Errorf("member: /proc/%d/io has no write_bytes", pid)
}

// descendants returns processes and all that descend from them.
func descendants(pids []int) ([]int, error) {
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	children := map[int][]int{}
	for _, name := range names {
		pid, err := strconv.Atoi(filepath.Base(name))
		if err != nil {
			continue
		}
		if s, err := statOf(pid); err == nil { // otherwise it has just ended
			children[s.parent] = append(children[s.parent], pid)
		}
	}
	all := append([]int(nil), pids...)
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all, nil
}
