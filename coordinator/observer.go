package coordinator

import (
	"context"
	"time"

	"github.com/palisade-go/palisade/token"
)

// Observer is told what happens to the requests, the leases and the groups of a
// node. It watches and has no say: a node without observers does the same.
type Observer interface {
	// Observe is told of one event after the other, those of one request in the
	// order in which they happened, by a goroutine that serves this observer
	// alone. Nothing waits for it: while Observe takes its time, up to
	// ObserverBacklog events gather, and what comes after that is dropped and
	// told of as Dropped. The event is shared with other observers and must not
	// be changed. Observe must not call Close or Shutdown, which wait until it has
	// been told of everything, for a second at most.
	Observe(Event)
}

// TraceCarrier is an Observer for which something of the caller's trace travels
// with the lease, so that others can tell whom they wait for: see Holder.Trace.
type TraceCarrier interface {
	Observer
	// Trace returns what names the trace of an acquire with the context: empty, or
	// 1 to TraceBytesMax bytes. It is called by the goroutine of each acquire and
	// so must neither block nor take long. Never return a secret: it is stored in
	// the log of every node. Of several carriers the first that returns something
	// counts.
	Trace(ctx context.Context) string
}

// ObserverBacklog is how many events wait for an observer that is slow.
const ObserverBacklog = 16_384

// Event is one of Transition, Overrun, Committed, Renewing, Expired,
// LeaderChanged and Dropped, as a pointer.
type Event interface{ event() }

// Subject is the request that an event is about, and its lease if it got one.
type Subject struct {
	// Request numbers the requests of this start of the node, from 1.
	Request   uint64
	Keys      []string // sorted; not to be changed
	RequestID string   // empty: none
	TTL       time.Duration
	Group     int         // of the first key
	Token     token.Token // of the first key; 0: no lease was granted
	// Context has the values of the acquire's context: a trace, for one. It says
	// nothing of an end.
	Context context.Context
}

// Transition says that a request, or the lease that came of it, has gone from a
// state to another:
//
//	Asked --> Queued --> Active --> Releasing --> Released
//	   |        |          |
//	   +--------+          +--> Lost
//	        |
//	        v
//	     Failed
//
// A request that need not wait goes from Asked to Active. One over several groups
// is Queued when the first of them has queued it, and Active when it has all. That
// renewing fails is told of as Renewing, once for all leases of a group: From is
// Active whether a lease was endangered or not.
//
// Callers who share a request by its id see one request, and one lease. A call that
// was turned away before it became a request has no transitions.
type Transition struct {
	Subject
	At       time.Time // by the wall clock
	From, To State
	// Took is for how long the request has waited, if To is Queued, Active or
	// Failed; for how long the lease was held, if To is Releasing or Lost; and how
	// long the confirmation took, if To is Released.
	Took time.Duration
	// Behind are the holders of the request's keys in the group that has queued it
	// first, as this node's replica knew them a moment later, if To is Queued, and
	// again if the request then becomes Active or Failed. A key that is only reserved
	// by a waiter has none.
	Behind []Holder
	// Remaining is what was left of the safe window, if To is Releasing.
	Remaining time.Duration
	// Wait says how the wait has ended, if To is Active or Failed.
	Wait WaitEnd
	// Outcome and Err are those of the call's *Error, if To is Failed. If To is
	// Lost, Err is what Lease.Err returns.
	Outcome Outcome
	Err     error
	// Loss says why the lease was lost, if To is Lost.
	Loss LossReason
}

// Overrun says that a lease was released by its owner although it had been lost
// before: work may have gone on without it. It is told once for each lease.
type Overrun struct {
	Subject
	At    time.Time // by the wall clock
	After time.Duration
	Loss  LossReason
}

// Committed says that a batch of this node was seen applied.
type Committed struct {
	At    time.Time // by the wall clock
	Group int
	Bytes int // of the log entry
	// Took is the time from the first attempt to the look at what came of it.
	Took time.Duration
	// Applying is the last part of it: the time from when this node's replica began
	// to apply what was committed. The rest was the batch's way into the log of a
	// majority.
	Applying time.Duration
	// Attempts is how often it was sent.
	Attempts int
}

// Renewing says that renewing the leases of a group has begun to fail, or that it
// works again.
type Renewing struct {
	At      time.Time // by the wall clock
	Group   int
	Failing bool
	Leases  int // of this node in the group
}

// Expired says that a group has expired leases of this node although the process
// lives: it was not heard for their TTL.
type Expired struct {
	At     time.Time // by the wall clock
	Group  int
	Leases int
}

// LeaderChanged says that a group has another leader or term, as this node sees
// it.
type LeaderChanged struct {
	At     time.Time // by the wall clock
	Group  int
	Leader NodeID // 0: none known
	Term   uint64
}

// Dropped says that the observer was not told of some events because it was slow.
type Dropped struct{ Events uint64 }

func (*Transition) event()    {}
func (*Overrun) event()       {}
func (*Committed) event()     {}
func (*Renewing) event()      {}
func (*Expired) event()       {}
func (*LeaderChanged) event() {}
func (*Dropped) event()       {}
