package statemachine

import (
	"fmt"
	"time"

	"github.com/palisade-go/palisade/token"
)

// Event is one of Applied, Rejected, Granted, Queued, Refused and Ended. All
// replicas compute the same events; the node they belong to listens.
type Event interface{ event() }

// Applied says that a batch took effect. It comes before the events of the
// batch's commands.
type Applied struct {
	Node        NodeID
	Incarnation Incarnation
	Number      BatchNumber
}

// Rejected says that a whole batch was ignored for what its sender is. A
// batch that is merely a repetition is ignored without an event.
type Rejected struct {
	Node        NodeID
	Directory   DirectoryID
	Incarnation Incarnation
	Number      BatchNumber
	Reason      RejectReason
	// Known is the presence that the batch met.
	Known Presence
}

// RejectReason says why a batch was rejected.
type RejectReason uint8

// The reasons for rejecting a batch. The numbers are part of no format.
const (
	// RejectedSuperseded: a higher incarnation of the node was seen.
	RejectedSuperseded RejectReason = iota + 1
	// RejectedLeft: this incarnation has left.
	RejectedLeft
	// RejectedDirectory: the node is known under another directory id.
	RejectedDirectory
)

// Granted says that a request became a lease.
type Granted struct {
	Lease LeaseID
	Token token.Token
	// Last is the last batch of the owner's presence at the grant. The
	// owner counts its limit from the first sending of that batch. It is
	// zero when the owner is an incarnation that is gone.
	Last BatchNumber
}

// Queued says that a request took its place in the queues of its keys.
type Queued struct{ Lease LeaseID }

// Refused says that one command of an applied batch was not carried out.
type Refused struct {
	Node        NodeID
	Incarnation Incarnation
	Number      BatchNumber
	Ordinal     int // position of the command in the batch, from 0
	// Seq is that of an Acquire; 0 of another command, and of any command
	// that is refused for its version, whose body not every binary can read.
	Seq    Seq
	Reason RefuseReason
	// Holders are the leases in the way of an Acquire that is refused as
	// busy or for a full queue, at most one a claim; a claim that only a
	// waiter reserves names none.
	Holders []Holder
}

// RefuseReason says why a command was refused.
type RefuseReason uint8

// The reasons for refusing a command. The numbers are part of no format.
const (
	// RefusedBusy: a try found a key held, or reserved by a waiter.
	RefusedBusy RefuseReason = iota + 1
	// RefusedQueueFull: a key's queue is as long as the request allows.
	RefusedQueueFull
	// RefusedInvalid: the command contradicts the rules (claims unsorted or
	// repeated, a seq in use, a leader's command in a node's batch, …).
	RefusedInvalid
	// RefusedVersion: the command is newer than the group's machine version.
	RefusedVersion
	// RefusedExhausted: the group's token counter has come to its end, so
	// nothing is granted any more, and nobody is let in line.
	RefusedExhausted
)

// Ended says that a lease, or a request that was waiting, is over.
type Ended struct {
	Lease   LeaseID
	Reason  EndReason
	Waiting bool // it was a request in line, not a lease
}

// EndReason says why a lease or a wait ended.
type EndReason uint8

// The reasons for an end. The numbers are part of no format.
const (
	EndReleased  EndReason = iota + 1 // by a Release, or by a Cancel that came after the grant
	EndCancelled                      // by a Cancel, in line
	EndExpired
	EndLimit
	EndSwept // its incarnation is gone or has left
)

// Holder is what is shown of a lease to others.
type Holder struct {
	Lease LeaseID
	Key   string
	Token token.Token
	// Since is the wall clock, in nanoseconds since 1970, that the owner's
	// batch carried last before the grant. For display only.
	Since     int64
	RequestID string
	Metadata  string
	TTL       time.Duration
}

func (Applied) event()  {}
func (Rejected) event() {}
func (Granted) event()  {}
func (Queued) event()   {}
func (Refused) event()  {}
func (Ended) event()    {}

// String returns the reason in words.
func (r RejectReason) String() string {
	switch r {
	case RejectedSuperseded:
		return "superseded"
	case RejectedLeft:
		return "left"
	case RejectedDirectory:
		return "other directory"
	}
	return fmt.Sprintf("reject reason %d", uint8(r))
}

// String returns the reason in words.
func (r RefuseReason) String() string {
	switch r {
	case RefusedBusy:
		return "busy"
	case RefusedQueueFull:
		return "queue full"
	case RefusedInvalid:
		return "invalid"
	case RefusedVersion:
		return "version"
	case RefusedExhausted:
		return "exhausted"
	}
	return fmt.Sprintf("refuse reason %d", uint8(r))
}

// String returns the reason in words.
func (r EndReason) String() string {
	switch r {
	case EndReleased:
		return "released"
	case EndCancelled:
		return "cancelled"
	case EndExpired:
		return "expired"
	case EndLimit:
		return "limit"
	case EndSwept:
		return "swept"
	}
	return fmt.Sprintf("end reason %d", uint8(r))
}
