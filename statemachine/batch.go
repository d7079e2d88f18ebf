package statemachine

import "time"

// Batch is what one log entry carries: the commands of one node, applied in
// order, or commands of the leader itself.
type Batch struct {
	// Node is the sender; zero means that these are the leader's own
	// commands (Expire, ExpireLimit, Sweep, Upgrade), which are unnumbered
	// and renew nothing.
	Node NodeID
	// Directory, Incarnation and Number identify a node's batch. They are
	// zero in the leader's own batches.
	Directory   DirectoryID
	Incarnation Incarnation
	Number      BatchNumber
	// Speaks is the newest machine version that the sender knows.
	Speaks Version
	// Wall is the sender's wall clock in nanoseconds since 1970. It is shown
	// by queries and used for nothing.
	Wall int64
	// Commands may be empty: every batch of a node renews its presence.
	Commands []Command
}

// Command is one of Acquire, Cancel, Release, Leave (a node's), Expire,
// ExpireLimit, Sweep, Upgrade (the leader's) and Unknown.
type Command interface{ command() }

// Mode says how a claim shares its key.
type Mode uint8

// Exclusive is the mode of a claim that shares its key with nobody.
const Exclusive Mode = 1

// Claim is one key of a request.
type Claim struct {
	Key  string
	Mode Mode
}

// Acquire asks for all claims at once: it is granted, or takes one place in
// every key's queue (Wait), or is refused.
type Acquire struct {
	Seq    Seq     // > 0, in use by no request of the sender's incarnation
	Claims []Claim // sorted by key, distinct, at least one
	Wait   bool
	TTL    time.Duration // > 0
	// Limit is the longest hold, counted from the grant; 0: none.
	Limit     time.Duration
	RequestID string // the caller's name for the request; may be empty
	Metadata  string
	// QueueMax refuses the request with RefusedQueueFull when a key of it
	// already has that many waiters; 0: no bound. It travels in the command,
	// because whatever decides an outcome has to be in the log.
	QueueMax uint64
}

// Cancel ends the request with that seq of the sender: a waiting one leaves
// its queues, a granted one is released; otherwise nothing happens.
type Cancel struct{ Seq Seq }

// Release ends the lease with that seq of the sender and no other.
type Release struct{ Seq Seq }

// Leave says that the node goes: all that it has is left to the sweep. What
// follows in its batch is refused, and later batches of this incarnation are
// rejected.
type Leave struct{}

// Expire ends the leases and waits of an incarnation with a TTL of at most
// TTL, if Last is still the last batch applied of it and it has not left. At
// most SliceMax end in one entry, oldest first, and all of them before anybody
// is granted what they leave.
type Expire struct {
	Node        NodeID
	Incarnation Incarnation
	Last        BatchNumber
	TTL         time.Duration
}

// ExpireLimit ends one lease whose limit has passed. A lease without a limit
// stays.
type ExpireLimit struct{ Lease LeaseID }

// Sweep ends what incarnations of Node before the present one, or an
// incarnation that left, still have; at most SliceMax an entry, oldest first,
// and all of them before anybody is granted what they leave.
type Sweep struct{ Node NodeID }

// Upgrade raises the group's machine version. It does nothing when the
// presence of any member is missing or speaks less. When it takes effect, what
// follows in its batch is refused.
type Upgrade struct{ Version Version }

// Unknown stands for a command that this binary or the group's machine
// version does not know. It is refused alike by every binary.
type Unknown struct {
	Code    uint64
	Version Version
}

// SliceMax is how many requests one Expire or Sweep ends at most, so that no
// entry is long.
const SliceMax = 1000

func (Acquire) command()     {}
func (Cancel) command()      {}
func (Release) command()     {}
func (Leave) command()       {}
func (Expire) command()      {}
func (ExpireLimit) command() {}
func (Sweep) command()       {}
func (Upgrade) command()     {}
func (Unknown) command()     {}
