package coordinator

import (
	"errors"
	"fmt"
	"time"

	"github.com/palisade-go/palisade/statemachine"
)

// StuckAfter is how long one turn of a loop may take before Live calls the
// loop stuck. A turn takes milliseconds at most on a healthy machine, and
// seconds when the disk stalls or the processor is overcommitted. It is twice
// DefaultTTL: leases with that TTL are lost by then, and a restart ends
// nothing that is alive.
const StuckAfter = 30 * time.Second

// Live returns nil unless a loop of this node stands still: the one that
// applies a group's log here, or the one that renews this node's leases in a
// group. Such a node does not recover by itself, and only a new start of the
// process helps. It never blocks, asks nobody, and may be called at any time
// and concurrently; it costs a few loads a group.
//
// The error names every loop that is stuck, its group, and since when. A turn
// of a loop is counted by the runtime's clock, from StuckAfter on.
//
// A node without a quorum is live: it has nothing to apply, and goes on trying
// to renew. So is one that had to stop by itself, see Status.Err, and one that
// is closed: no loop of it runs. The installing of a snapshot is no turn,
// because it takes as long as the snapshot is large.
func (c *Coordinator) Live() error { return c.liveAt(time.Now()) }

// liveAt is Live as of an instant.
func (c *Coordinator) liveAt(now time.Time) error {
	var stuck []error
	look := func(loop string, group statemachine.GroupID, since time.Time, busy bool) {
		if took := now.Sub(since); busy && took >= StuckAfter {
			stuck = append(stuck, fmt.Errorf("the %s loop of group %d is stuck since %s, for %v",
				loop, group, since.UTC().Format(time.RFC3339), took.Round(time.Second)))
		}
	}
	for _, g := range c.groups {
		since, busy := c.node.ApplyingSince(g.id)
		look("apply", g.id, since, busy)
		since, busy = g.turn.Since()
		look("renew", g.id, since, busy)
	}
	if len(stuck) == 0 {
		return nil
	}
	return &Error{"Live", "", NotApplied, errors.Join(stuck...)}
}

// errNotCaughtUp says that a node has not caught up with a group since it was
// opened.
var errNotCaughtUp = errors.New("not caught up since the start")

// Ready returns nil once this node has caught up with every group: it has
// applied all that was committed before it announced itself there. It stays so
// while the node is open and has disk space, also without a quorum: taking it
// out of service would bring no quorum back. It never blocks, asks nobody, and may be called
// at any time and concurrently; it costs a load a group.
//
// The error wraps ErrUnavailable and names the first group that is not caught
// up; or ErrDiskSpace while the node is short of it and takes nothing new on;
// or ErrClosed, as soon as Shutdown or Close has begun or the node had to
// stop by itself. WaitReady, in contrast, waits, and asks the groups anew.
func (c *Coordinator) Ready() error {
	if err := c.acceptsNew(); err != nil {
		return &Error{"Ready", "", NotApplied, err}
	}
	for _, g := range c.groups {
		if g.heard.Load() == neverHeard {
			return &Error{"Ready", "", NotApplied, fmt.Errorf("group %d: %w", g.id, c.unavailable(errNotCaughtUp))}
		}
	}
	return nil
}
