package coordinator

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/diskspace"
	"github.com/palisade-go/palisade/coordinator/internal/identity"
	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/token"
)

// The errors of this package. They are found with errors.Is inside the
// *Error that a call returns; a context's own error is found too.
var (
	// ErrBusy: a try found a key taken, or a waiter ahead of it. The error
	// is also a *BusyError, which names the holders.
	ErrBusy = errors.New("taken")
	// ErrQueueFull: a key's queue is as long as Limits allow.
	ErrQueueFull = errors.New("the queue is full")
	// ErrLeaseLost: the lease ended without its owner's doing. Somebody else
	// may own the key.
	ErrLeaseLost = errors.New("the lease is lost")
	// ErrReleased: the lease was released by its owner.
	ErrReleased = errors.New("the lease was released")
	// ErrUnavailable: the key's group does not answer; most often it has no
	// quorum.
	ErrUnavailable = errors.New("the key's group does not answer")
	// ErrWouldDeadlock: the context of the call comes from a lease that
	// holds one of its keys and is still held.
	ErrWouldDeadlock = errors.New("the caller holds the key and would wait for itself")
	// ErrInvalid: an argument is wrong. Nothing was done.
	ErrInvalid = errors.New("invalid argument")
	// ErrClosed: the Coordinator is closed or shutting down.
	ErrClosed = errors.New("the coordinator is closed")
	// ErrDiskSpace: too little disk space is free for the data directory. The
	// error is also a *DiskSpaceError. Open returns it alone; calls on an open
	// node return it with ErrUnavailable.
	ErrDiskSpace = diskspace.ErrShort
)

// DiskSpaceError is ErrDiskSpace with the directory (Dir), the bytes that are
// free there (FreeBytes) and those that are needed (NeededBytes): DiskSpaceMin,
// or DiskSpaceAgain for a node that is short already.
type DiskSpaceError = diskspace.Error

// What Open says of a data directory that it can't use. What it holds was not
// changed. When the damage or the format is that of the stores in it, they may
// have put their own files in order, and the start is counted.
var (
	// ErrDirectoryInUse: another node has it open, in this process or in
	// another one.
	ErrDirectoryInUse = identity.ErrInUse
	// ErrDirectoryFormat: it, or a store in it, was made by a later version of
	// this library, or by one of the time when directories were not kept.
	ErrDirectoryFormat = identity.ErrFormat
	// ErrDirectoryDamaged: something of it is missing or can't be read: a file
	// that says whose it is, the log, or the state of a group. It is never
	// founded anew: the node would vote twice.
	ErrDirectoryDamaged = identity.ErrDamaged
)

// MismatchError says that a data directory was made with another value of
// something that never changes: the node id, or a part of the birth
// certificate. It names the directory (Dir), what differs (What), and both
// values (Stored and Configured).
type MismatchError = identity.MismatchError

// Outcome says what is known of a call that failed.
type Outcome uint8

// The outcomes. The zero value is the one that promises nothing.
const (
	// Unknown: the command may have taken effect, or still be withdrawn. An
	// acquire leaves nothing behind all the same: its withdrawal goes on
	// until the group has confirmed it, or the node is no longer heard from.
	Unknown Outcome = iota
	// NotApplied: nothing took effect.
	NotApplied
	// Applied: it took effect, and the error tells of something else. Of Do:
	// the lease was acquired, which says nothing of what fn did.
	Applied
)

// String returns the name of the outcome.
func (o Outcome) String() string {
	switch o {
	case NotApplied:
		return "not applied"
	case Applied:
		return "applied"
	}
	return "unknown"
}

// Error is the error of every call of a Coordinator, Lease or LeaseSet. What a
// function given to Do returns is passed on as it is.
type Error struct {
	Op      string // the method
	Key     string // the key or keys; empty where none is concerned
	Outcome Outcome
	Err     error
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("palisade: ")
	b.WriteString(e.Op)
	if e.Key != "" {
		fmt.Fprintf(&b, " %q", e.Key)
	}
	fmt.Fprintf(&b, " (%s): %v", e.Outcome, e.Err)
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Holder is what is shown of a lease to those who do not own it.
type Holder struct {
	Key  string
	Node NodeID
	// Token is the holder's fencing token.
	Token token.Token
	// Since is about when the lease was granted: what the holder's wall clock
	// was when it was last heard before, up to a quarter of its TTL earlier.
	// It is for display only.
	Since     time.Time
	RequestID string
	Metadata  string
	// Trace is what the holder's TraceCarrier has told of the trace it acquired
	// the lease in; empty if it has none.
	Trace string
}

// BusyError is the ErrBusy of a try. A key that is not held but reserved by
// a waiter names no holder.
type BusyError struct{ Holders []Holder }

// Error implements error.
func (e *BusyError) Error() string {
	if len(e.Holders) == 0 {
		return "taken: somebody is ahead in line"
	}
	parts := make([]string, len(e.Holders))
	for i, h := range e.Holders {
		parts[i] = h.String()
	}
	return "taken: " + strings.Join(parts, "; ")
}

// Is makes errors.Is(err, ErrBusy) true.
func (e *BusyError) Is(target error) bool { return target == ErrBusy }

// String describes the holder in one line, without its metadata, which may
// be private.
func (h Holder) String() string {
	return fmt.Sprintf("%q is held by node %d with token %s since %s", h.Key, h.Node, h.Token, h.Since.UTC().Format(time.RFC3339))
}

func holderOf(h statemachine.Holder) Holder {
	trace, metadata := unpack(h.Metadata)
	return Holder{
		Key: h.Key, Node: NodeID(h.Lease.Node), Token: h.Token, Since: time.Unix(0, h.Since),
		RequestID: h.RequestID, Metadata: metadata, Trace: trace,
	}
}

func holdersOf(hs []statemachine.Holder) []Holder {
	out := make([]Holder, len(hs))
	for i, h := range hs {
		out[i] = holderOf(h)
	}
	return out
}
