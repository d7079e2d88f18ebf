package locktest

// Faults count what happened to the replicas of all groups on all nodes, those
// of earlier starts included: with them a test shows that its fault happened.
type Faults struct {
	// LeaderChanges are the changes of leader or term that a replica noticed,
	// also to none: one election counts several times for each node.
	LeaderChanges uint64
	// ExpiriesProposed are the commands by which leaders asked for the end of
	// what a node was not heard of any more, or whose limit has passed. One
	// whose node was heard from meanwhile does nothing, and is counted all the
	// same.
	ExpiriesProposed uint64
	// SweepsProposed are those for what earlier starts of a node, or one that
	// left, still had.
	SweepsProposed uint64
	// SnapshotsInstalled are those that a replica got from another node.
	SnapshotsInstalled uint64
	// SnapshotsCreated is an upper bound: it also counts what was given up.
	SnapshotsCreated uint64
}

// Faults returns the sums over all nodes since the cluster was made.
func (c *Cluster) Faults() Faults {
	var sum Faults
	for _, n := range c.nodes {
		sum = sum.plus(n.Faults())
	}
	return sum
}

// Faults returns the sums over the groups of this node, through all its
// starts.
func (n *Node) Faults() Faults {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.run == nil {
		return n.before
	}
	return n.before.plus(n.run.faults())
}

// faults returns the sums over the groups of one start.
func (r *running) faults() Faults {
	var sum Faults
	for group := 1; group <= r.groups; group++ {
		sum = sum.plus(Faults(r.controls.Faults(group)))
	}
	return sum
}

func (f Faults) plus(more Faults) Faults {
	f.LeaderChanges += more.LeaderChanges
	f.ExpiriesProposed += more.ExpiriesProposed
	f.SweepsProposed += more.SweepsProposed
	f.SnapshotsInstalled += more.SnapshotsInstalled
	f.SnapshotsCreated += more.SnapshotsCreated
	return f
}
