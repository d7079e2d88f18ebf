package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/palisade-go/palisade/coordinator"
)

// sayGoodbye stops the nodes as a program should: Shutdown lets those finish
// who own something.
func (s *story) sayGoodbye(ctx context.Context) error {
	node := s.cluster.node(1)
	last := s.startLastJob(ctx, node)
	lease, err := last.wait(ctx)
	if err != nil {
		return err
	}
	stopped := make(chan error, 1)
	go func() { stopped <- node.Shutdown(ctx) }()
	if err := refuses(ctx, node); err != nil {
		return err
	}
	if err := s.holds(ctx, 2, 1, lease); err != nil {
		return err
	}
	select {
	case err := <-stopped:
		return fmt.Errorf("node 1 did not wait for the owner of a lock: %v", err)
	default:
	}
	s.tell("Node 1 shuts down: it takes no more requests and waits for the job that owns %q.", documentKey)

	close(last.finish)
	for _, end := range []<-chan error{last.ended, stopped} {
		err, gaveUp := await(ctx, "the job and its node", end)
		if err := errors.Join(err, gaveUp); err != nil {
			return err
		}
	}
	if err := s.isFree(ctx, lease); err != nil {
		return err
	}
	s.tell("The job wrote and ended, then the node. Node 2 has the key at once.")

	for _, id := range others(1) {
		if err := s.cluster.node(id).Shutdown(ctx); err != nil {
			return fmt.Errorf("node %d: %w", id, err)
		}
	}
	s.cluster.close()
	if err := os.RemoveAll(s.cluster.dir); err != nil {
		return err
	}
	s.tell("All three nodes have stopped, and their files are removed.")
	return nil
}

// lastJob is a job that owns the document's lock until it is told to finish.
type lastJob struct {
	owns   chan *coordinator.Lease
	finish chan struct{}
	ended  chan error
}

func (s *story) startLastJob(ctx context.Context, node *coordinator.Coordinator) *lastJob {
	job := &lastJob{
		owns:   make(chan *coordinator.Lease, 1),
		finish: make(chan struct{}),
		ended:  make(chan error, 1),
	}
	go func() {
		job.ended <- node.Do(ctx, documentKey, func(ctx context.Context, lease *coordinator.Lease) error {
			job.owns <- lease
			if _, err := await(ctx, "the order to finish", job.finish); err != nil {
				return err
			}
			return s.document.write(lease.Token(), "last edition")
		})
	}()
	return job
}

// wait returns the lease of the job once it has it.
func (job *lastJob) wait(ctx context.Context) (*coordinator.Lease, error) {
	select {
	case lease := <-job.owns:
		return lease, nil
	case err := <-job.ended:
		return nil, fmt.Errorf("the job got no lock: %w", err)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// refuses waits until a node takes no more requests, and checks that it says
// why.
func refuses(ctx context.Context, node *coordinator.Coordinator) error {
	err := waitUntil(ctx, "the node takes no more requests", func() (bool, error) {
		_, err := node.Inspect(ctx, documentKey)
		if errors.Is(err, coordinator.ErrClosed) {
			return true, nil
		}
		return false, err
	})
	if err != nil {
		return err
	}
	if _, err := node.Acquire(ctx, "another key"); !errors.Is(err, coordinator.ErrClosed) {
		return fmt.Errorf("a node that shuts down says to a new request: %v", err)
	}
	return nil
}

// isFree checks that the lock that a lease held can be had at once on node 2,
// with a greater token: nobody has to wait for an expiry.
func (s *story) isFree(ctx context.Context, before *coordinator.Lease) error {
	return waitUntil(ctx, "a try is answered", func() (bool, error) {
		lease, err := s.cluster.node(2).TryAcquire(ctx, documentKey)
		if err != nil {
			return false, err
		}
		if lease.Token() <= before.Token() {
			return false, fmt.Errorf("node 2 got token %s after %s", lease.Token(), before.Token())
		}
		return true, lease.Release(ctx)
	})
}
