package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/token"
)

// succession is the answer to one who waited in line behind a holder, and
// whether that holder still believed in its lease at that moment.
type succession struct {
	grant
	overlap bool
}

// shortTTL is how long the group waits for this chapter's holder after it was
// last heard. The least is four election timeouts. The default, 15 s, is kept
// everywhere else: it costs nothing as long as nobody dies, and it survives
// longer pauses.
const shortTTL = 8 * electionTimeout

// cutHolderOff is why locks with a time-out need tokens: a holder that nobody
// hears has to lose its lock, and may not have noticed.
func (s *story) cutHolderOff(ctx context.Context) error {
	old, err := s.cluster.node(1).Acquire(ctx, documentKey, coordinator.WithTTL(shortTTL))
	if err != nil {
		return err
	}
	if err := s.document.write(old.Token(), "draft of node 1"); err != nil {
		return err
	}
	next := make(chan succession, 1)
	go func() {
		lease, err := s.cluster.node(2).Acquire(ctx, documentKey, coordinator.WithMetadata("next"))
		next <- succession{grant{lease, err}, old.Held()}
	}()
	if err := s.waitLine(ctx, []contender{{"next", 2}}); err != nil {
		return err
	}
	if err := old.Err(); err != nil {
		return err
	}
	s.tell("Node 1 owns %q and node 2 waits for it.", documentKey)

	if err := s.cluster.isolate(1); err != nil {
		return err
	}
	if err := s.noLockWithoutMajority(ctx); err != nil {
		return err
	}
	s.tell("Node 1 is cut off. No request that it makes is answered now.")

	if err := s.lostByItself(ctx, old); err != nil {
		return err
	}
	s.tell("It lost the lock by its own clock: Held is false, Done is closed, and its context ended.")
	s.tell("context.Cause says: %v.", context.Cause(old.Context()))

	lease, err := s.takeOver(ctx, old, next)
	if err != nil {
		return err
	}
	s.tell("Only then node 2 got it, with a greater token, and wrote the document.")

	if err := s.writeLate(old.Token()); err != nil {
		return err
	}
	s.tell("Node 1 wakes up late and writes with its old token: the guard refuses it as stale.")

	if err := lease.Release(ctx); err != nil {
		return err
	}
	s.cluster.heal()
	if err := s.cluster.waitReady(ctx, 1); err != nil {
		return err
	}
	if err := old.Release(ctx); old.Held() || !errors.Is(err, coordinator.ErrLeaseLost) {
		return fmt.Errorf("the lost lease came back: releasing it says %v", err)
	}
	s.tell("The links are mended, and node 1 has caught up. Its lease stays lost.")
	return nil
}

// noLockWithoutMajority checks that a node alone can't decide anything: a try
// gives up after three election timeouts.
func (s *story) noLockWithoutMajority(ctx context.Context) error {
	lease, err := s.cluster.node(1).TryAcquire(ctx, "another key")
	if err == nil {
		return fmt.Errorf("node 1 got %q with token %s although it is cut off", lease.Key(), lease.Token())
	}
	if !errors.Is(err, coordinator.ErrUnavailable) {
		return fmt.Errorf("a try of a node that is cut off should find no group, but: %w", err)
	}
	return nil
}

// lostByItself waits until the lease of node 1 has ended, and checks that it
// says so in every way, and that nobody has told it: the node counts a loss by
// the window, not one that its group has ended.
func (s *story) lostByItself(ctx context.Context, lease *coordinator.Lease) error {
	if _, err := await(ctx, "the loss of the lease", lease.Done()); err != nil {
		return err
	}
	cause := context.Cause(lease.Context())
	status := s.cluster.node(1).Status()
	switch {
	case lease.Held():
		return errors.New("the lease is done and yet held")
	case lease.State() != coordinator.Lost:
		return fmt.Errorf("the state of the lost lease is %v", lease.State())
	case lease.Context().Err() == nil:
		return errors.New("the lease is lost but its context has not ended")
	case !errors.Is(cause, coordinator.ErrLeaseLost):
		return fmt.Errorf("the context of the lost lease ended because: %w", cause)
	case status.LostWindow != 1 || status.LostGroup != 0:
		return fmt.Errorf("node 1 counts %d leases lost by the clock and %d by what it was told", status.LostWindow, status.LostGroup)
	}
	return nil
}

// takeOver waits until the next in line owns the key, and lets it write.
func (s *story) takeOver(ctx context.Context, old *coordinator.Lease, next <-chan succession) (*coordinator.Lease, error) {
	got, gaveUp := await(ctx, "the next in line", next)
	if err := errors.Join(got.err, gaveUp); err != nil {
		return nil, err
	}
	if got.overlap {
		return nil, errors.New("node 2 was granted the key while node 1 still believed to own it")
	}
	if got.lease.Token() <= old.Token() {
		return nil, fmt.Errorf("node 2 got token %s after %s", got.lease.Token(), old.Token())
	}
	return got.lease, s.document.write(got.lease.Token(), "edition of node 2")
}

// writeLate writes with a token that is no longer the greatest, and checks
// that nothing comes of it.
func (s *story) writeLate(old token.Token) error {
	before := s.document.read()
	err := s.document.write(old, "draft of node 1, continued")
	if err == nil {
		return fmt.Errorf("the guard accepted the old token %s, and %q was overwritten", old, before)
	}
	if !errors.Is(err, token.ErrStale) {
		return fmt.Errorf("the late write should be stale, but: %w", err)
	}
	if text := s.document.read(); text != before {
		return fmt.Errorf("the late write was refused, but the document reads %q", text)
	}
	return nil
}
