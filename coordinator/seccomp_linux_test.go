package coordinator_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// breakDisk makes all that changes files fail in this process with an error of
// the operating system, from now on and for good. It takes no privilege: the
// kernel answers in the place of the file system (seccomp). Files in dir that
// are open can't be written to any more, and none can be opened for writing.
// Connections go on.
func breakDisk(dir string, why syscall.Errno) error {
	open, err := openBelow(dir)
	if err != nil {
		return err
	}
	program, err := refusals(open, why)
	if err != nil {
		return err
	}
	// It is a condition of the kernel for those without privileges.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&filter)))
	if errno != 0 {
		return fmt.Errorf("install a filter of system calls: %w", errno)
	}
	return nil
}

// openBelow returns the descriptors of the files in dir that are open.
func openBelow(dir string) (open []uint32, err error) {
	const descriptors = "/proc/self/fd"
	entries, err := os.ReadDir(descriptors)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		target, err := os.Readlink(filepath.Join(descriptors, entry.Name()))
		if err != nil || !strings.HasPrefix(target, dir+string(filepath.Separator)) {
			continue // it is closed already, or something else
		}
		fd, err := strconv.ParseUint(entry.Name(), 10, 32)
		if err != nil {
			return nil, err
		}
		open = append(open, uint32(fd))
	}
	if len(open) == 0 {
		return nil, fmt.Errorf("no file in %s is open", dir)
	}
	return open, nil
}

// refusals is a program that refuses all changes of files, for the kernel to
// run at each system call.
func refusals(open []uint32, why syscall.Errno) ([]unix.SockFilter, error) {
	architectures := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}
	architecture, ok := architectures[runtime.GOARCH]
	if !ok {
		return nil, fmt.Errorf("the numbers of the system calls on %s are not known here", runtime.GOARCH)
	}
	// Where things are in what the program is given (struct seccomp_data).
	const (
		number           = 0
		itsArchitecture  = 4
		firstArgument    = 16
		argumentBytes    = 8
		openFlagsAre     = 2
		changesSomething = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC
		openMax          = 120 // a jump is 255 instructions long at most
	)
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	answer := func(with uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: with}
	}
	// unless skips the next n instructions if the value is not k.
	unless := func(k uint32, n int) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: uint8(n), K: k}
	}
	allow, refuse := answer(unix.SECCOMP_RET_ALLOW), answer(unix.SECCOMP_RET_ERRNO|uint32(why))

	if len(open) > openMax {
		return nil, fmt.Errorf("%d files are open: at most %d", len(open), openMax)
	}
	program := []unix.SockFilter{
		load(itsArchitecture),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: architecture}, allow,
		load(number),
		unless(unix.SYS_OPENAT, 4),
		load(firstArgument + openFlagsAre*argumentBytes),
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, Jf: 1, K: changesSomething},
		refuse, allow,
	}
	for _, call := range []uint32{
		unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_SYNC_FILE_RANGE, unix.SYS_FALLOCATE, unix.SYS_FTRUNCATE,
		unix.SYS_PWRITE64, unix.SYS_MKDIRAT, unix.SYS_LINKAT, unix.SYS_SYMLINKAT,
	} {
		program = append(program, unless(call, 1), refuse)
	}
	program = append(program, unless(unix.SYS_WRITE, 2*len(open)+1), load(firstArgument))
	for _, fd := range open {
		program = append(program, unless(fd, 1), refuse)
	}
	return append(program, allow), nil
}
