package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/palisade-go/palisade/coordinator"
)

// takeLock is what most programs do: acquire, write with the token, release.
func (s *story) takeLock(ctx context.Context) error {
	lease, err := s.cluster.node(1).Acquire(ctx, documentKey)
	if err != nil {
		return err
	}
	if err := s.holds(ctx, 2, 1, lease); err != nil {
		return err
	}
	s.tell("A job on node 1 owns %q, and node 2 sees it there.", documentKey)

	if err := s.document.write(lease.Token(), "first edition"); err != nil {
		return err
	}
	if text := s.document.read(); text != "first edition" {
		return fmt.Errorf("the document reads %q", text)
	}
	s.tell("It wrote the document. The guard took its fencing token and remembers it.")

	if err := lease.Release(ctx); err != nil {
		return err
	}
	if lease.Held() || !errors.Is(lease.Err(), coordinator.ErrReleased) {
		return fmt.Errorf("after the release the lease says: %v", lease.Err())
	}
	s.tell("It released the lock.")
	return nil
}

// holds checks that a lease of node owner is held, and that node witness sees
// it with the same token. Inspect sees every lease that was granted before it
// was called, on whichever node.
func (s *story) holds(ctx context.Context, witness, owner coordinator.NodeID, lease *coordinator.Lease) error {
	if err := lease.Err(); err != nil {
		return fmt.Errorf("the lease of node %d is not held: %w", owner, err)
	}
	var info coordinator.KeyInfo
	err := waitUntil(ctx, "the key can be looked at", func() (bool, error) {
		var err error
		info, err = s.cluster.node(witness).Inspect(ctx, lease.Key())
		return true, err
	})
	if err != nil {
		return err
	}
	if h := info.Holder; h == nil || h.Node != owner || h.Token != lease.Token() {
		return fmt.Errorf("node %d should own %q with token %s, but node %d sees %v", owner, lease.Key(), lease.Token(), witness, h)
	}
	return nil
}
