package coordinator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/raftnode"
	"github.com/palisade-go/palisade/statemachine"
)

// Shutdown stops the node in good order, as http.Server's does: it refuses
// new requests, fails those that wait with ErrClosed, and waits until every
// lease that is held has been released or lost. Then it moves its groups'
// leaderships to other nodes and stops.
//
// ctx bounds the wait for the holders. If it ends first, its error is
// returned and the held leases go on being renewed: call Shutdown again, or
// Close.
func (c *Coordinator) Shutdown(ctx context.Context) error {
	if ctx == nil {
		return &Error{"Shutdown", "", NotApplied, fmt.Errorf("%w: the context is nil", ErrInvalid)}
	}
	c.refuse(ErrClosed)
	for _, o := range c.ownerships() {
		if err := c.waitEnd(ctx, o); err != nil {
			return &Error{"Shutdown", keysText(o.keys), Unknown, err}
		}
	}
	return c.Close()
}

// waitEnd waits until a lease has ended, and if its owner released it, until
// that is confirmed: the node must not go while somebody waits for the
// confirmation. What waits in line, is being withdrawn or was lost holds nothing
// up.
func (c *Coordinator) waitEnd(ctx context.Context, o *ownership) error {
	if !o.wasHanded() {
		return nil
	}
	if err := c.awaitClosed(ctx, o.ended()); err != nil {
		return fmt.Errorf("still held: %w", err)
	}
	if !o.wasReleased() {
		return nil
	}
	if err := c.awaitClosed(ctx, o.vanished()); err != nil {
		return fmt.Errorf("the release is not confirmed: %w", err)
	}
	return nil
}

// awaitClosed waits until end is closed, or will never be because the node is
// dead. If ctx ends first, the error is that of ctx; a context that had ended
// before does not hide an end that is there.
func (c *Coordinator) awaitClosed(ctx context.Context, end <-chan struct{}) error {
	select {
	case <-end:
	case <-c.dead:
	case <-ctx.Done():
		select {
		case <-end:
		case <-c.dead:
		default:
			return endOf(ctx)
		}
	}
	return nil
}

// Close stops the node. All its leases end at once (they are lost, with
// ErrClosed as the cause), and the groups are told, so that others go on
// without waiting for an expiry. Groups that do not answer within 2 election
// timeouts are left to expire what this node had. Then the leaderships are
// moved, for 1 election timeout at most, and the engine is stopped, which
// takes well under a second as a rule and is given up after 30 seconds: then
// the error says so, and the directory stays locked until the process ends.
//
// Close may be called at any time and more than once; later calls return what
// the first one did.
func (c *Coordinator) Close() error {
	c.closeOnce.Do(func() {
		c.endAll()
		c.leave()
		c.moveLeaderships()
		c.closeErr = c.stop()
	})
	return c.closeErr
}

// kill stops the node without telling anybody.
func (c *Coordinator) kill() error {
	c.closeOnce.Do(func() {
		c.endAll()
		c.closeErr = c.stop()
	})
	return c.closeErr
}

// endAll refuses all calls and ends all leases, here.
func (c *Coordinator) endAll() {
	c.refuse(ErrClosed)
	for _, o := range c.ownerships() {
		o.fail(ErrClosed)
	}
}

// stop ends all goroutines and gives the directory back.
func (c *Coordinator) stop() error {
	c.die()
	c.work.Wait()
	err := c.node.Close()
	for _, g := range c.groups {
		close(g.stop)
		<-g.stopped
	}
	c.feed.end()
	if err := errors.Join(err, c.stopStores(err)); err != nil {
		return &Error{"Close", "", Applied, err}
	}
	return nil
}

// leave tells all groups that this node goes.
func (c *Coordinator) leave() {
	for _, g := range c.groups {
		g.leave()
	}
	deadline := time.NewTimer(leaveElections * c.cfg.ElectionTimeout)
	defer deadline.Stop()
	for _, g := range c.groups {
		select {
		case <-g.left:
		case <-deadline.C:
			return
		}
	}
}

// moveLeaderships hands what this node leads to others, so that they need no
// election. It gives up after one election timeout.
func (c *Coordinator) moveLeaderships() {
	led := c.led()
	if len(c.cfg.Peers) == 1 || len(led) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), moveElections*c.cfg.ElectionTimeout)
	defer cancel()
	// A node that has an entry to apply, the last one of leave for example,
	// does not take over, and the engine does not ask twice within an election
	// timeout. So the others get the time to apply it first.
	applied := time.NewTimer(c.cfg.ElectionTimeout / 10)
	defer applied.Stop()
	<-applied.C
	for _, g := range led {
		// The engine takes a transfer as a wish; what came of it is seen from
		// the leader that the replica follows.
		_ = c.node.Transfer(g.id, c.successor(g))
	}
	for _, g := range led {
		g.waitFollows(ctx, c.identity.Node)
	}
}

// led returns the groups that this node leads.
func (c *Coordinator) led() []*group {
	var led []*group
	for _, g := range c.groups {
		if c.node.Leader(g.id).Leader == c.identity.Node {
			led = append(led, g)
		}
	}
	return led
}

// successor picks who shall lead a group next: another member, counted on by
// group, so that they don't all go to one.
func (c *Coordinator) successor(g *group) statemachine.NodeID {
	members := c.cfg.members()
	others := make([]statemachine.NodeID, 0, len(members)-1)
	for _, m := range members {
		if m != c.identity.Node {
			others = append(others, m)
		}
	}
	return others[int(g.id)%len(others)]
}

// stopStores closes what lies under the engine, after the engine has stopped
// with an error or nil. An engine that could not be stopped still uses it:
// then it stays open, and the directory locked, until the process ends.
func (c *Coordinator) stopStores(engine error) error {
	if c.endGreeting != nil {
		c.endGreeting()
	}
	if errors.Is(engine, raftnode.ErrStillRunning) {
		return nil
	}
	var errs []error
	if c.network != nil {
		errs = append(errs, c.network.Close())
	}
	if c.store != nil {
		errs = append(errs, c.store.Close())
	}
	if c.identity != nil {
		errs = append(errs, c.identity.Close())
	}
	return errors.Join(errs...)
}
