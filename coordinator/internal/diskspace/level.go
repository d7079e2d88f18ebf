package diskspace

import (
	"errors"
	"fmt"
)

const (
	// Needed is how many bytes must be free for a node to open, and to take
	// on anything new.
	Needed = 256 << 20
	// Enough is how many must be free again for a node that was short. The
	// node's own files come and go: its two stores replace tables of together
	// up to 48 MiB on disk, which takes and frees as much. The difference is
	// more than that, so that a node does not go to and fro by its own doing.
	Enough = Needed + 64<<20
)

// ErrShort is what every *Error is.
var ErrShort = errors.New("too little disk space")

// Error says that too little disk space is free, and how much would do.
type Error struct {
	Dir         string
	FreeBytes   uint64
	NeededBytes uint64
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("%v: %s has %d bytes free and needs %d", ErrShort, e.Dir, e.FreeBytes, e.NeededBytes)
}

// Is makes errors.Is(err, ErrShort) true.
func (e *Error) Is(target error) bool { return target == ErrShort }

// Level is whether a node is short of disk space, over time. The zero value is
// a node that has enough.
type Level struct{ short bool }

// See takes what is free at the moment, and reports whether the node is short
// of disk space now, and whether it was not a moment ago or the other way
// round.
func (l *Level) See(free uint64) (short, changed bool) {
	before := l.short
	l.short = free < l.NeededBytes()
	return l.short, l.short != before
}

// NeededBytes returns how many bytes must be free for the node to have enough
// the next time.
func (l *Level) NeededBytes() uint64 {
	if l.short {
		return Enough
	}
	return Needed
}
