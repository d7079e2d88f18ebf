package kerneltest

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// own marks the calls that this package makes: it is their sixth argument, which
// none of the calls that are caught has. The filter lets them pass.
const own = 0x70616c69

// firstFile is the lowest descriptor of a file that is watched. Calls on lower
// ones are not caught. So those of the runtime on its own descriptors are not:
// it makes some at times when no goroutine can answer them.
const firstFile = 1000

// The calls that are caught: those on an open file, and those on a path.
var (
	callsOnFiles = []uint32{
		unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_SYNC_FILE_RANGE,
		unix.SYS_FALLOCATE, unix.SYS_FTRUNCATE, unix.SYS_READ, unix.SYS_PREAD64, unix.SYS_GETDENTS64,
	}
	callsOnPaths = []uint32{
		unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_UNLINKAT, unix.SYS_MKDIRAT,
		unix.SYS_LINKAT, unix.SYS_SYMLINKAT,
	}
	// Who makes these can do without, or must be taught to the Image.
	callsThatAreMissing = []uint32{unix.SYS_COPY_FILE_RANGE, unix.SYS_SENDFILE}
	callsThatAreUnknown = []uint32{unix.SYS_WRITEV, unix.SYS_PWRITEV, unix.SYS_PWRITEV2}
)

// install gives the calls of all threads of this process to the descriptor that
// it returns. There is no way back.
func install() (listener int, err error) {
	// It is a condition of the kernel for those without privileges.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("give up new privileges: %w", err)
	}
	program := program()
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	// A call whose answer is on its way is not interrupted by a signal: it would
	// be made again.
	const flags = unix.SECCOMP_FILTER_FLAG_TSYNC | unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH |
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&filter)))
	if errno != 0 {
		return 0, fmt.Errorf("install a filter of system calls: %w", errno)
	}
	return int(fd), nil
}

// program decides on each call of the process.
func program() []unix.SockFilter {
	// Where things are in what it is given (struct seccomp_data).
	const number, firstArgument, sixthArgument, upperHalf = 0, 16, 56, 4
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	answer := func(with uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: with}
	}
	// unless skips the next n instructions if the value is not k.
	unless := func(k uint32, n uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: n, K: k}
	}
	below := func(k uint32, n uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, Jf: n, K: k}
	}
	allow, catch := answer(unix.SECCOMP_RET_ALLOW), answer(unix.SECCOMP_RET_USER_NOTIF)

	all := []unix.SockFilter{load(sixthArgument), unless(own, 1), allow, load(number)}
	// The runtime and the C library open files at times when no goroutine can
	// answer them. They give no directory as 32 bits, the standard library as
	// 64. What is given is the descriptor of a directory, which only the latter
	// does.
	noDirectory := int32(unix.AT_FDCWD)
	all = append(all, unless(unix.SYS_OPENAT, 5), load(firstArgument), unless(uint32(noDirectory), 3),
		load(firstArgument+upperHalf), unless(0, 1), allow)
	all = append(all, load(number), unless(unix.SYS_OPENAT, 1), catch)
	for _, call := range callsOnPaths {
		all = append(all, unless(call, 1), catch)
	}
	for _, those := range []struct {
		calls []uint32
		with  unix.SockFilter
	}{
		{callsOnFiles, catch},
		{callsThatAreMissing, answer(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS))},
		{callsThatAreUnknown, answer(unix.SECCOMP_RET_KILL_PROCESS)},
	} {
		for _, call := range those.calls {
			all = append(all, unless(call, 4), load(firstArgument), below(firstFile, 1), those.with, allow)
		}
	}
	return append(all, allow)
}
