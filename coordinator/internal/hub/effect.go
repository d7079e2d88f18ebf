package hub

import (
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/token"
)

// Ref is the shell's name for one acquire. It stays the same when the
// request is asked again under a new seq.
type Ref uint64

// Effect is one of Send, Granted, Queued, Refused, Unavailable, Lost, Over,
// Failing, Recovered, Reached, Left and Fatal. The shell carries effects out in
// order.
type Effect interface{ effect() }

// Send asks for one attempt to propose a batch.
type Send struct {
	Number  statemachine.BatchNumber
	Attempt int
	Data    []byte
	Timeout time.Duration // after this the attempt counts as failed
}

// Granted hands a lease to its caller. Its window is HeardAt + 0.9*TTL, and
// ends at LimitEnd at the latest, if that is not zero.
type Granted struct {
	Ref      Ref
	Lease    statemachine.LeaseID
	Token    token.Token
	LimitEnd clock.Instant
}

// Queued says that the request has its place in line.
type Queued struct{ Ref Ref }

// Refused ends a request that the group did not accept. Nothing is left.
type Refused struct {
	Ref     Ref
	Reason  statemachine.RefuseReason
	Holders []statemachine.Holder
}

// Unavailable ends a wait whose place can't be trusted any longer; its
// withdrawal goes on (Over follows).
type Unavailable struct{ Ref Ref }

// Lost ends a lease without its owner's doing. What the group may still
// have of it is being released (Over follows).
type Lost struct {
	Ref    Ref
	Reason LossReason
}

// LossReason says why a lease was lost.
type LossReason uint8

// The reasons for a loss.
const (
	LostWindow  LossReason = iota + 1 // the group was not heard for 0.9*T
	LostLimit                         // max hold reached
	LostExpired                       // the group expired it
	LostSwept                         // the group holds this incarnation for gone
	LostUnknown                       // the group's state no longer has it
)

// Over says that the group has nothing left of a request that was cancelled,
// released, lost or unavailable.
type Over struct{ Ref Ref }

// Failing says that renewing has begun to fail; Recovered that it works
// again.
type Failing struct{}

// Recovered: see Failing.
type Recovered struct{}

// Reached says that a batch first sent after a Mark was seen applied. So the
// windows count from after it, and whatever was sent before it is settled: the
// state of the local replica tells of it. What was only asked before, and had
// no room in a batch yet, may still be on its way.
type Reached struct{ Ref Ref }

// Left says that the group knows that this node has gone.
type Left struct{}

// Fatal says that this node may no longer speak for its id.
type Fatal struct{ Err error }

func (Send) effect()        {}
func (Granted) effect()     {}
func (Queued) effect()      {}
func (Refused) effect()     {}
func (Unavailable) effect() {}
func (Lost) effect()        {}
func (Over) effect()        {}
func (Failing) effect()     {}
func (Recovered) effect()   {}
func (Reached) effect()     {}
func (Left) effect()        {}
func (Fatal) effect()       {}
