package coordinator

import (
	"time"

	"github.com/palisade-go/palisade/statemachine"
)

// Status is what a node knows of itself and its groups, without asking
// anybody. Counters count from Open.
type Status struct {
	Cluster     string
	NodeID      NodeID
	Incarnation uint64 // which start of the node this is
	// Err is why the node had to stop by itself; nil otherwise.
	Err error
	// DiskErr is why nothing new is taken on at present: a *DiskSpaceError.
	// nil: there is enough disk space.
	DiskErr error
	// DiskFreeBytes were free for the data directory when it was last looked
	// at, a second ago at most. 0: not known.
	DiskFreeBytes uint64
	// Admitted says whether every peer has once let this node's directory in;
	// before that it exchanges nothing with them. Peers are the others.
	Admitted bool
	Peers    []PeerStatus
	// Requests wait or hold at the moment, or are being given back.
	Requests int
	Groups   []GroupStatus

	// Waits are the durations of all acquires, whatever came of them; Holds
	// those of all leases that have ended.
	Waits, Holds Histogram

	// What became of acquires.
	Acquired, Busy, QueueFull, Timeouts, Cancelled, Unavailable, OtherFailures uint64

	// Batches are the log entries asked for, renewals included; Retries the
	// attempts to send one again; RenewFailures how often renewing began to
	// fail.
	Batches, Retries, RenewFailures uint64
	// LostWindow counts leases lost because their group was not heard in
	// time, LostLimit those whose max hold was reached, LostGroup those that
	// their group had ended first.
	LostWindow, LostLimit, LostGroup uint64
	// Expiries counts leases of this node that a group has expired although
	// the process lived.
	Expiries uint64
	// Refusals by the groups, by kind.
	RefusedBusy, RefusedQueueFull, RefusedOther uint64
	// LeaderChanges counts the changes of leader or term seen, all groups
	// together.
	LeaderChanges uint64
}

// PeerStatus is how this node stands with another, as of its last attempt to
// reach it.
type PeerStatus struct {
	NodeID  NodeID
	Address string
	// Reached: the last attempt succeeded. Each peer is asked every 10 s, and
	// more often while it is not reached.
	Reached bool
	// Err is what the last attempt met, nil if it succeeded or there was none
	// yet; a *RefusedError if one of the two refuses the other.
	Err error
}

// GroupStatus is what the node's replica of a group knows.
type GroupStatus struct {
	Group        int
	Leader       NodeID // 0: none known
	Term         uint64
	Applied      uint64 // log index
	Leases       int    // of all nodes
	Waits        int
	Keys         int // held or waited for
	LongestQueue int
	// Applying is for how long the replica has been at what it applies now: it
	// lags behind the group by as much at least. 0: it waits for something.
	Applying time.Duration
	Nodes    []NodeStatus
}

// NodeStatus is how the node's replica of a group stands with a node.
type NodeStatus struct {
	NodeID      NodeID
	Incarnation uint64 // 0: it has never announced itself
	// Heard is how long ago the replica last applied a batch of the node. A node
	// that asks for nothing and has no lease sends none; one with leases does so
	// about every quarter of the shortest TTL.
	Heard time.Duration
	Left  bool // it was shut down
}

// Status returns what the node knows, and never blocks on a group or a disk.
// Safe for concurrent use, also after Close.
func (c *Coordinator) Status() Status {
	m := c.metrics
	s := Status{
		Cluster: c.cfg.Cluster, NodeID: c.cfg.NodeID, Incarnation: uint64(c.identity.Incarnation),
		Requests: c.openRequests(), Err: c.failure(),
		Waits: m.waits.read(), Holds: m.holds.read(),
		Acquired: m.acquired.Load(), Busy: m.busy.Load(), QueueFull: m.queueFull.Load(), Timeouts: m.timeouts.Load(),
		Cancelled: m.cancelled.Load(), Unavailable: m.unavailable.Load(), OtherFailures: m.otherFailures.Load(),
		Batches: m.batches.Load(), Retries: m.retries.Load(), RenewFailures: m.renewFailures.Load(),
		LostWindow: m.lostWindow.Load(), LostLimit: m.lostLimit.Load(), LostGroup: m.lostGroup.Load(),
		Expiries: m.expiries.Load(), LeaderChanges: m.leaderChanges.Load(),
		RefusedBusy: m.refusedBusy.Load(), RefusedQueueFull: m.refusedQueue.Load(), RefusedOther: m.refusedOth.Load(),
	}
	s.DiskFreeBytes, s.DiskErr = c.node.DiskSpace()
	s.Admitted, s.Peers = c.peerStatus()
	for _, g := range c.groups {
		s.Groups = append(s.Groups, c.groupStatus(g))
	}
	return s
}

func (c *Coordinator) peerStatus() (admitted bool, peers []PeerStatus) {
	if c.gate == nil {
		return true, nil // a single node has nobody to ask
	}
	for _, s := range c.gate.Standings() {
		id := NodeID(s.Node)
		peers = append(peers, PeerStatus{NodeID: id, Address: c.cfg.Peers[id], Reached: s.Agreed, Err: c.inWords(s.Problem)})
	}
	return c.gate.Admitted(), peers
}

func (c *Coordinator) groupStatus(g *group) GroupStatus {
	leader := c.node.Leader(g.id)
	s := GroupStatus{Group: int(g.id), Leader: NodeID(leader.Leader), Term: leader.Term}
	// A group that can't be looked at, because the node is closed, shows
	// zeros.
	_ = c.node.View(g.id, func(m *statemachine.Machine) {
		stats := m.Stats()
		s.Applied = uint64(m.Meta().Applied)
		s.Leases, s.Waits, s.Keys, s.LongestQueue = stats.Leases, stats.Waits, stats.Keys, stats.LongestQueue
	})
	if since, busy := c.node.ApplyingSince(g.id); busy {
		s.Applying = max(0, time.Since(since))
	}
	for _, h := range c.node.Heard(g.id) {
		s.Nodes = append(s.Nodes, NodeStatus{
			NodeID: NodeID(h.Presence.Node), Incarnation: uint64(h.Presence.Incarnation), Heard: h.Ago, Left: h.Presence.Left,
		})
	}
	return s
}
