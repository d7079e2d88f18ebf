package coordinator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/raftnode"
	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/token"
)

// KeyInfo is what is known of a key.
type KeyInfo struct {
	Key     string
	Group   int
	Holder  *Holder  // nil: nobody owns it
	Waiters []Waiter // in the order of service
}

// Waiter is a request in line.
type Waiter struct {
	Node      NodeID
	Since     time.Time // by the waiter's wall clock; for display only
	RequestID string
	Metadata  string
}

// Inspect returns who owns a key and who waits for it. It is linearizable: it
// sees every lease that was granted before the call, by whichever node. No log
// entry; one round between the nodes. Without a quorum it returns
// ErrUnavailable after 3 election timeouts at the latest; at once, with
// ErrDiskSpace, while this node is short of disk space.
func (c *Coordinator) Inspect(ctx context.Context, key string) (KeyInfo, error) {
	if err := c.checkQuery("Inspect", key, ctx); err != nil {
		return KeyInfo{}, err
	}
	g := c.groupOf(key)
	info := KeyInfo{Key: key, Group: int(g.id)}
	err := c.query(ctx, "Inspect", key, func(ctx context.Context) error {
		return c.node.Read(ctx, g.id, func(m *statemachine.Machine) { info.fill(m) })
	})
	if err != nil {
		return KeyInfo{}, err
	}
	return info, nil
}

func (info *KeyInfo) fill(m *statemachine.Machine) {
	glance, taken := m.Glance(info.Key, math.MaxInt)
	if !taken {
		return
	}
	if glance.Held {
		h := holderOf(glance.Holder)
		info.Holder = &h
	}
	info.Waiters = waitersOf(glance.Queue)
}

func waitersOf(waits []statemachine.Wait) (waiters []Waiter) {
	for _, w := range waits {
		_, metadata := unpack(w.Metadata)
		waiters = append(waiters, Waiter{NodeID(w.ID.Node), time.Unix(0, w.Since), w.RequestID, metadata})
	}
	return waiters
}

// checkQuery checks the arguments of a query before anything is sent.
func (c *Coordinator) checkQuery(op, key string, ctx context.Context) error {
	if err := checkKey(key); err != nil {
		return &Error{op, shorten(key), NotApplied, fmt.Errorf("%w: %w", ErrInvalid, err)}
	}
	if err := checkContext(op, shorten(key), ctx); err != nil {
		return err
	}
	if err := c.acceptsNew(); err != nil {
		return &Error{op, shorten(key), NotApplied, err}
	}
	return nil
}

// query runs fn for at most 3 election timeouts, and not past the
// coordinator's life.
func (c *Coordinator) query(ctx context.Context, op, key string, fn func(context.Context) error) error {
	bounded, cancel := context.WithTimeoutCause(ctx, 3*c.cfg.ElectionTimeout, errNoAnswer)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	err := fn(bounded)
	switch {
	case err == nil:
		return nil
	case c.life.Err() != nil:
		err = context.Cause(c.life)
	case ctx.Err() != nil:
		err = c.unavailable(endOf(ctx))
	case errors.Is(err, raftnode.ErrClosed):
		err = ErrClosed
	default:
		err = c.unavailable(context.Cause(bounded))
	}
	return &Error{op, shorten(key), NotApplied, err}
}

// ResolutionState says what became of a request id.
type ResolutionState uint8

// The states of a request id.
const (
	// Absent: this start of the node has nothing under the id, and nothing
	// sent before can change that.
	Absent ResolutionState = iota
	// Pending: a request with the id waits for its answer, or is being
	// withdrawn or given back.
	Pending
	// InLine: a request with the id is in line.
	InLine
	// Owned: a lease with the id is owned.
	Owned
)

// String returns the name of the state.
func (s ResolutionState) String() string {
	switch s {
	case Pending:
		return "pending"
	case InLine:
		return "in line"
	case Owned:
		return "owned"
	}
	return "absent"
}

// Resolution is the answer of Resolve.
type Resolution struct {
	State    ResolutionState
	Token    token.Token // of an owned lease
	Position int         // of a request in line, from 1
}

// Resolve tells what became of this node's request with an id (see
// WithRequestID) for a key: for a caller that got Outcome Unknown and has to
// know. Unless the request is pending here, it commits an empty batch and
// then looks at the state, so that Absent stays true: no earlier batch of this
// node, and none of an earlier start of it, can take effect afterwards. What
// an earlier start left counts as absent. Without a quorum it returns
// ErrUnavailable after 3 election timeouts at the latest; at once, with
// ErrDiskSpace, while this node is short of disk space. One log entry.
func (c *Coordinator) Resolve(ctx context.Context, key, requestID string) (Resolution, error) {
	if err := c.checkQuery("Resolve", key, ctx); err != nil {
		return Resolution{}, err
	}
	if n := len(requestID); n == 0 || n > statemachine.RequestIDBytesMax {
		return Resolution{}, &Error{"Resolve", shorten(key), NotApplied, fmt.Errorf("%w: request id has %d bytes: must be 1 to %d", ErrInvalid, n, statemachine.RequestIDBytesMax)}
	}
	if c.shared.pending(requestID) {
		return Resolution{State: Pending}, nil
	}
	g := c.groupOf(key)
	var res Resolution
	err := c.query(ctx, "Resolve", key, func(ctx context.Context) error {
		reached, giveUp := g.mark(c.newRef())
		select {
		case <-reached:
		case <-ctx.Done():
			giveUp()
			return ctx.Err()
		}
		return c.node.View(g.id, func(m *statemachine.Machine) { res = c.resolve(m, key, requestID) })
	})
	return res, err
}

// resolve looks for the request in the state of its group.
func (c *Coordinator) resolve(m *statemachine.Machine, key, requestID string) Resolution {
	view, _ := m.Key(key)
	mine := func(id statemachine.LeaseID, name string) bool {
		return id.Node == c.identity.Node && id.Incarnation == c.identity.Incarnation && name == requestID
	}
	if l := view.Holder; l != nil && mine(l.ID, l.RequestID) {
		return Resolution{State: Owned, Token: l.Token}
	}
	for _, w := range view.Waiters {
		if mine(w.ID, w.RequestID) {
			position, _ := m.Position(w.ID)
			return Resolution{State: InLine, Position: position}
		}
	}
	return Resolution{State: Absent}
}
