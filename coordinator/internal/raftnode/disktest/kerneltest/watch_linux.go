package kerneltest

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"github.com/vmihailenco/msgpack/v5"
	"golang.org/x/sys/unix"
)

// Fault is an error that calls are answered with.
type Fault struct {
	// At is which of the calls below the directory it is, from 1. 0: none.
	At int
	// Only counts, and fails, calls of one kind. 0: of any.
	Only Kind
	// Ever fails all that follow too.
	Ever bool
	With syscall.Errno
}

// fails reports whether the n-th call does.
func (f Fault) fails(n int) bool { return f.At > 0 && (n == f.At || f.Ever && n > f.At) }

// Watch sees what this process does below one directory, until its end.
type Watch struct {
	root     string // without symbolic links
	listener int
	fault    Fault

	mu      sync.Mutex
	journal *bufio.Writer
	calls   int
	opened  map[int]string // by descriptor, below root
}

// Start watches what is done below root, an empty directory, writes it into the
// journal, a file elsewhere, and lets the calls of the fault fail. No file below
// root may be open. It can't be ended, and a process can start it once.
func Start(root string, journal *os.File, fault Fault) (*Watch, error) {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, err
	}
	w := &Watch{root: root, fault: fault, journal: bufio.NewWriter(journal), opened: make(map[int]string)}
	if w.listener, err = install(); err != nil {
		return nil, err
	}
	go func() {
		runtime.LockOSThread()
		err := w.serve()
		// Whoever waits for an answer would wait for ever.
		fmt.Fprintln(os.Stderr, "kerneltest:", err)
		os.Exit(2)
	}()
	return w, nil
}

// Note adds a note to the journal.
func (w *Watch) Note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.write(Operation{Kind: Note, To: fmt.Sprintf(format, args...)})
}

func (w *Watch) write(o Operation) {
	err := o.encode(msgpack.NewEncoder(w.journal))
	if err = errors.Join(err, w.journal.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, "kerneltest: write the journal:", err)
		os.Exit(2)
	}
}

// call is a caught call, and answer what it is told (struct seccomp_notif and
// seccomp_notif_resp).
type call struct {
	id            uint64
	thread, flags uint32
	number        int32
	architecture  uint32
	instruction   uint64
	args          [6]uint64
}

type answer struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

const (
	receiveCall = 0xc0502100 // SECCOMP_IOCTL_NOTIF_RECV
	sendAnswer  = 0xc0182101 // SECCOMP_IOCTL_NOTIF_SEND
)

// serve answers calls, one after the other.
func (w *Watch) serve() error {
	for {
		var c call
		if errno := w.control(receiveCall, unsafe.Pointer(&c)); errno != 0 {
			if errno == unix.EINTR || errno == unix.ENOENT {
				continue // a signal, or the caller was interrupted
			}
			return fmt.Errorf("receive a call: %w", errno)
		}
		value, errno, err := w.handle(c)
		if err != nil {
			return err
		}
		a := answer{id: c.id, value: int64(value), errno: -int32(errno)}
		if errno != 0 {
			a.value = 0
		}
		if errno := w.control(sendAnswer, unsafe.Pointer(&a)); errno != 0 && errno != unix.ENOENT {
			return fmt.Errorf("answer a call: %w", errno)
		}
	}
}

func (w *Watch) control(what uintptr, with unsafe.Pointer) syscall.Errno {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(w.listener), what, uintptr(with))
	return errno
}

// handle makes a call, or lets it fail, and writes it down.
func (w *Watch) handle(c call) (uintptr, syscall.Errno, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	o, watched, err := w.describe(c)
	if err != nil {
		return 0, 0, err
	}
	if !watched {
		value, errno := perform(c)
		return value, errno, nil
	}
	if w.counts(o) && w.fault.fails(w.calls) {
		o.Failed, o.Data = w.fault.With, nil
		w.write(o)
		return 0, w.fault.With, nil
	}
	value, errno := perform(c)
	switch {
	case errno != 0 && o.Kind != Sync, o.Kind == Read, o.Kind == List:
		return value, errno, nil // nothing has changed
	case errno != 0:
		o.Failed = errno
	case o.Kind == Open:
		if o.File, err = w.openedAs(int(value), &o); err != nil {
			return 0, 0, err
		}
		value = uintptr(o.File)
	case o.Kind == Write && int(value) < len(o.Data):
		o.Data = o.Data[:value]
	}
	w.write(o)
	return value, errno, nil
}

// counts counts a call if it is one that may fail.
func (w *Watch) counts(o Operation) bool {
	if w.fault.Only != 0 && w.fault.Only != o.Kind {
		return false
	}
	w.calls++
	return true
}

// perform makes a call as this thread's own.
func perform(c call) (uintptr, syscall.Errno) {
	value, _, errno := unix.RawSyscall6(uintptr(c.number),
		uintptr(c.args[0]), uintptr(c.args[1]), uintptr(c.args[2]), uintptr(c.args[3]), uintptr(c.args[4]), own)
	return value, errno
}

// openedAs moves a file that was just opened to where its calls are caught.
func (w *Watch) openedAs(fd int, o *Operation) (int, error) {
	at, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err != nil {
		return 0, err
	}
	below, inside := w.below(at)
	if !inside {
		return 0, fmt.Errorf("%s leads out of %s, to %s", o.Path, w.root, at)
	}
	moved, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, firstFile)
	if err = errors.Join(err, unix.Close(fd)); err != nil {
		return 0, err
	}
	o.Path, w.opened[moved] = below, below
	return moved, nil
}

// below returns a path relative to the root.
func (w *Watch) below(at string) (string, bool) {
	if at == w.root {
		return ".", true
	}
	return strings.CutPrefix(at, w.root+"/")
}
