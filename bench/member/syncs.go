package member

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// syncCalls are the system calls that wait for the disk.
const syncCalls = "fsync,fdatasync,sync_file_range,sync,syncfs,msync"

// SyncsMissing says what counting syncs needs and how to get it; "" when it is
// there.
func SyncsMissing() string {
	if _, err := exec.LookPath("strace"); err != nil {
		return "strace is not installed (apt-get install strace)"
	}
	return ""
}

// Syncs counts the syncs of some processes while it runs. It traces them, which
// slows them down: nothing else is to be measured meanwhile.
type Syncs struct {
	cmd    *exec.Cmd
	counts chan counted // one, when strace has ended
}

type counted struct {
	syncs uint64
	err   error
}

// CountSyncs begins to count, and returns when all processes are traced.
func CountSyncs(pids []int) (*Syncs, error) {
	all, err := descendants(pids)
	if err != nil {
		return nil, err
	}
	// The calls go into a pipe of their own: among them, strace's own messages
	// could stand in the middle of a line.
	calls, end, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	args := []string{"-f", "-o", "/dev/fd/3", "-e", "trace=" + syncCalls, "-e", "signal=none"}
	for _, pid := range all {
		args = append(args, "-p", strconv.Itoa(pid))
	}
	cmd := exec.Command("strace", args...)
	cmd.ExtraFiles = []*os.File{end}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	messages, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err = errors.Join(err, end.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("start strace: %w", err), calls.Close())
	}
	s := &Syncs{cmd: cmd, counts: make(chan counted, 1)}
	go s.count(calls)
	if err := attached(messages, len(all)); err != nil {
		_ = cmd.Process.Kill() // it may trace the others
		<-s.counts
		return nil, errors.Join(err, cmd.Wait())
	}
	go func() { _, _ = io.Copy(io.Discard, messages) }()
	return s, nil
}

// attached returns when strace has said that it traces so many processes.
func attached(messages io.Reader, processes int) error {
	var said []string
	for lines := bufio.NewScanner(messages); lines.Scan(); {
		said = append(said, lines.Text())
		if strings.Contains(lines.Text(), "attach: ") {
			break // to one of them it did not
		}
		if strings.Contains(lines.Text(), " attached") {
			if processes--; processes == 0 {
				return nil
			}
		}
	}
	return fmt.Errorf("strace did not attach to all processes: %s", strings.Join(said, "; "))
}

// count reads what strace traces until it ends.
func (s *Syncs) count(calls *os.File) {
	defer calls.Close()
	syncs := uint64(0)
	lines := bufio.NewScanner(calls)
	for lines.Scan() {
		if isSync(lines.Text()) {
			syncs++
		}
	}
	s.counts <- counted{syncs, lines.Err()}
}

// isSync reports whether strace tells of a call that began. One that another
// thread's call interrupts is told of twice, the second time as resumed, without
// its arguments. A sync_file_range that does not wait is no sync.
func isSync(line string) bool {
	call, arguments, _ := strings.Cut(line, "(")
	if i := strings.LastIndexByte(call, ' '); i >= 0 {
		call = call[i+1:]
	}
	if call == "sync_file_range" {
		return strings.Contains(arguments, "SYNC_FILE_RANGE_WAIT_AFTER")
	}
	return strings.Contains(","+syncCalls+",", ","+call+",")
}

// Stop ends the counting and returns the count.
func (s *Syncs) Stop() (uint64, error) {
	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil {
		return 0, fmt.Errorf("stop strace: %w", err)
	}
	counted := <-s.counts
	_ = s.cmd.Wait() // it ends of the signal
	return counted.syncs, counted.err
}
