package locktest

import (
	"context"
	"fmt"
)

// Group returns the group of a key, from 1. It fails the test if no node runs.
func (c *Cluster) Group(key string) int {
	c.t.Helper()
	all := c.running()
	if len(all) == 0 {
		c.t.Fatalf("locktest: the group of %q: no node runs", key)
	}
	return all[0].controls.Group(key)
}

// KeyIn returns a key that belongs to a group: prefix and a number, always the
// same. It fails the test if there is no such group.
func (c *Cluster) KeyIn(group int, prefix string) string {
	c.t.Helper()
	const tries = 1 << 16 // a group has at least 16 of 4096 slots
	for i := range tries {
		if key := fmt.Sprintf("%s-%d", prefix, i); c.Group(key) == group {
			return key
		}
	}
	c.t.Fatalf("locktest: no key belongs to group %d", group)
	return ""
}

// Leader returns the node that leads the group of a key: the one that itself,
// and a majority of the nodes with it, takes for the leader of the latest
// term. 0: there is none.
func (c *Cluster) Leader(key string) int {
	c.t.Helper()
	return c.leaderOf(c.Group(key))
}

func (c *Cluster) leaderOf(group int) int {
	type claim struct{ leader, term uint64 }
	votes := make(map[claim]int)
	var latest claim
	itself := make(map[claim]bool)
	for _, r := range c.running() {
		var at claim
		at.leader, at.term = r.controls.Leader(group)
		if at.leader == 0 {
			continue
		}
		votes[at]++
		itself[at] = itself[at] || at.leader == uint64(r.number)
		if at.term > latest.term {
			latest = at
		}
	}
	if !itself[latest] || votes[latest] <= len(c.nodes)/2 {
		return 0
	}
	return int(latest.leader)
}

// WaitLeader waits until the group of a key has a leader, as Leader means it,
// or ctx ends.
func (c *Cluster) WaitLeader(ctx context.Context, key string) (int, error) {
	c.t.Helper()
	group := c.Group(key)
	leader := 0
	err := c.Await(ctx, fmt.Sprintf("a leader of the group of %q", key), func() bool {
		leader = c.leaderOf(group)
		return leader != 0
	})
	return leader, err
}

// transferRetry is after what time a leader is asked again: it goes on with
// one attempt for an election timeout, and takes no other meanwhile.
const transferRetry = ElectionTimeout + ElectionTimeout/4

// MoveLeader makes a node the leader of the group of a key, and waits until it
// is, or ctx ends. The leader is asked again as long as it does not give way:
// a node that has entries to apply at that moment does not take over.
func (c *Cluster) MoveLeader(ctx context.Context, key string, to int) error {
	c.t.Helper()
	c.Node(to)
	group := c.Group(key)
	for {
		leader, err := c.WaitLeader(ctx, key)
		if err != nil {
			return err
		}
		if leader == to {
			return nil
		}
		if r := c.Node(leader).runs(); r != nil {
			// The engine takes it as a wish: what counts is who leads then.
			_ = r.controls.Lead(group, uint64(to))
		}
		attempt, cancel := context.WithTimeout(ctx, transferRetry)
		err = c.Await(attempt, fmt.Sprintf("node %d to lead the group of %q", to, key), func() bool {
			return c.leaderOf(group) == to
		})
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
}
