package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/palisade-go/palisade/coordinator"
)

// failLeader shows that a lease does not hang on the leader of its key's
// group, as long as the holder itself goes on: it outlives every gap without a
// leader that is shorter than half of its TTL. An election takes one to two
// election timeouts, and longer if votes are split.
func (s *story) failLeader(ctx context.Context) error {
	lease, owner, leader, err := s.acquireBesideLeader(ctx)
	if err != nil {
		return err
	}
	before := s.cluster.node(leader).Status().Incarnation
	s.tell("A job owns %q. Another node leads the Raft group of that key.", documentKey)

	// Cut first, so that the others get no word of it: to them it is a crash.
	// A node that is closed in good order hands its groups over.
	if err := s.cluster.isolate(leader); err != nil {
		return err
	}
	if err := s.cluster.node(leader).Close(); err != nil {
		return err
	}
	if err := s.cluster.waitReady(ctx, others(leader)...); err != nil {
		return err
	}
	now, _, err := s.leaderOf(ctx, owner)
	if err != nil {
		return err
	}
	if now == leader {
		return fmt.Errorf("node %d is stopped, and node %d still takes it for the leader", leader, owner)
	}
	s.tell("That node is cut off without a word and stopped. The other two elected a new leader.")

	witness := others(leader)[0]
	if witness == owner {
		witness = others(leader)[1]
	}
	if err := s.holds(ctx, witness, owner, lease); err != nil {
		return err
	}
	// That is more than can be left of a renewal before the cut, which is more
	// than an election timeout ago: only one through the new leader will do.
	if err := lease.Ensure(ctx, almostAll); err != nil {
		return err
	}
	if err := s.document.write(lease.Token(), "edition after the failover"); err != nil {
		return err
	}
	s.tell("The job still owns the lock, with the same token, and wrote with it.")

	if err := lease.Release(ctx); err != nil {
		return err
	}
	s.cluster.heal()
	if err := s.cluster.start(ctx, leader); err != nil {
		return err
	}
	if err := s.cluster.waitReady(ctx, leader); err != nil {
		return err
	}
	if again := s.cluster.node(leader).Status().Incarnation; again <= before {
		return fmt.Errorf("node %d was incarnation %d, and after a restart it is %d", leader, before, again)
	}
	s.tell("The stopped node was started again from its files, at another port, and has caught up.")
	return nil
}

// almostAll is close to the most that can remain of a lease with the default
// TTL: a holder trusts it for 0.9 of that.
const almostAll = coordinator.DefaultTTL*9/10 - electionTimeout

// acquireBesideLeader acquires the document's key on a node that does not lead
// the key's group. A group may change its leader at any time, so it looks
// again afterwards, and starts anew if that has happened.
func (s *story) acquireBesideLeader(ctx context.Context) (lease *coordinator.Lease, owner, leader coordinator.NodeID, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		leader, term, err := s.leaderOf(ctx, 1)
		if err != nil {
			return nil, 0, 0, err
		}
		owner := others(leader)[0]
		lease, err := s.cluster.node(owner).Acquire(ctx, documentKey)
		if err != nil {
			return nil, 0, 0, err
		}
		now, sameTerm, err := s.leaderOf(ctx, owner)
		if err == nil && now == leader && sameTerm == term {
			return lease, owner, leader, nil
		}
		if err := errors.Join(err, lease.Release(ctx)); err != nil {
			return nil, 0, 0, err
		}
	}
}

// leaderOf returns who leads the group of the document's key, and in which
// term, as a node sees it.
func (s *story) leaderOf(ctx context.Context, asked coordinator.NodeID) (leader coordinator.NodeID, term uint64, err error) {
	node := s.cluster.node(asked)
	err = waitUntil(ctx, "the group has a leader", func() (bool, error) {
		info, err := node.Inspect(ctx, documentKey)
		if err != nil {
			return false, err
		}
		for _, g := range node.Status().Groups {
			if g.Group == info.Group {
				leader, term = g.Leader, g.Term
			}
		}
		return leader != 0, nil
	})
	return leader, term, err
}
