package disktest

import (
	"bytes"
	"strings"
	"sync"
	"syscall"
)

// Disk counts what is changed on it. Its methods are safe for concurrent use.
// The zero value is a disk without an end.
type Disk struct {
	mu   sync.Mutex
	end  End
	left int // changes until the end; 0: there is none
}

// End says at which change the process ends, and what is left of that change.
type End struct {
	// At is which change it is, from 1. 0: none.
	At int
	// LogOnly counts only what is appended to the Raft log.
	LogOnly bool
	// Part is how much takes place of the change: of a write the first bytes, as
	// many as Part modulo the length of it and one; another change takes place
	// if Part is odd.
	Part int
	// Rest is what is found behind the part of a write that took place.
	Rest Rest
}

// Rest is what is found behind the part of a write that took place.
type Rest int

// A file system that has made a file longer before its content reached the disk
// shows zeros, or what was there before.
const (
	Nothing Rest = iota
	Zeros
	Garbage
)

// EndAt ends the process at a change that is still to come.
func (d *Disk) EndAt(end End) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.end, d.left = end, end.At
}

// last counts a change, and reports whether it is the last one.
func (d *Disk) last(appends bool) (End, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left == 0 || d.end.LogOnly && !appends {
		return End{}, false
	}
	d.left--
	return d.end, d.left == 0
}

// change is a change of names, or a sync.
func (d *Disk) change(do func() error) error {
	end, last := d.last(false)
	if !last {
		return do()
	}
	if end.Part%2 == 1 {
		_ = do()
	}
	endProcess()
	return nil
}

// write is a write to a file.
func (d *Disk) write(name string, p []byte, write func([]byte) (int, error)) (int, error) {
	end, last := d.last(strings.HasSuffix(name, logSuffix))
	if !last {
		return write(p)
	}
	_, _ = write(end.torn(p))
	endProcess()
	return 0, nil
}

// logSuffix ends the names of the files that the Raft log is appended to. The
// machines' store has none.
const logSuffix = ".log"

// torn returns what is found of a write that the process did not survive.
func (e End) torn(p []byte) []byte {
	kept := e.Part % (len(p) + 1)
	left := append([]byte(nil), p[:kept]...)
	switch rest := len(p) - kept; e.Rest {
	case Zeros:
		left = append(left, make([]byte, rest)...)
	case Garbage:
		left = append(left, bytes.Repeat([]byte{0xa5, 0x5a, 0x01}, rest/3+1)[:rest]...)
	}
	return left
}

// endProcess ends this process at once: nothing is run any more.
func endProcess() {
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	select {}
}
