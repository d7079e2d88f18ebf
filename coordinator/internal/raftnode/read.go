package raftnode

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lni/dragonboat/v4"

	"github.com/palisade-go/palisade/statemachine"
)

// Read calls fn with the group's machine in a state that contains everything
// that was committed when Read was called, on any node. It waits for a round
// to a majority, and tries again until ctx ends. Fn runs under the replica's
// read lock, which holds up the group: it must be short and must not call the
// Node or keep the machine. On failure fn was not called.
//
// Errors: that of ctx, with what the last attempt met; ErrClosed;
// ErrUnknownGroup. It costs no log entry.
func (n *Node) Read(ctx context.Context, group statemachine.GroupID, fn func(*statemachine.Machine)) error {
	r := n.replica(group)
	if r == nil {
		return fmt.Errorf("%w: %d", ErrUnknownGroup, group)
	}
	attempt := 2 * n.cfg.Election
	pause := time.NewTimer(0)
	defer pause.Stop()
	last := ErrNotReady
	for {
		select {
		case <-n.closing:
			return ErrClosed
		case <-ctx.Done():
		case <-pause.C:
		}
		// The pause may be over as well: what has ended does not read.
		if ctx.Err() != nil {
			return fmt.Errorf("raftnode: read group %d: %w (last attempt: %w)", group, context.Cause(ctx), last)
		}
		err := n.barrier(ctx, group, attempt)
		if err == nil {
			r.view(fn)
			return nil
		}
		if errors.Is(err, ErrClosed) {
			return err
		}
		if ctx.Err() == nil {
			last = err // and not that an attempt was cut short
		}
		pause.Reset(n.cfg.Election / 10)
	}
}

// View calls fn with the group's machine as it is here, which may lag behind
// the group. It never waits for others. Fn is bound as in Read.
//
// Errors: ErrUnknownGroup.
func (n *Node) View(group statemachine.GroupID, fn func(*statemachine.Machine)) error {
	r := n.replica(group)
	if r == nil {
		return fmt.Errorf("%w: %d", ErrUnknownGroup, group)
	}
	r.view(fn)
	return nil
}

// barrier returns nil when this replica has applied everything that was
// committed when it was called. It tries once, for at most timeout.
//
// Errors: that of ctx, ErrClosed, ErrNotReady.
func (n *Node) barrier(ctx context.Context, group statemachine.GroupID, timeout time.Duration) error {
	timeout = max(timeout, 2*n.cfg.tick())
	if !n.gate.enter() {
		return ErrClosed
	}
	request, err := n.host.ReadIndex(uint64(group), timeout)
	n.gate.leave()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotReady, err)
	}
	timer := time.NewTimer(timeout + n.cfg.outcomeGrace())
	defer timer.Stop()
	select {
	case result := <-request.ResultC():
		request.Release()
		return barrierError(result)
	case <-timer.C:
		return fmt.Errorf("%w: the engine gave no answer for %v", ErrNotReady, timeout+n.cfg.outcomeGrace())
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-n.closing:
		return ErrClosed
	}
}

// barrierError translates the engine's answer to a request for a read index.
func barrierError(result dragonboat.RequestResult) error {
	switch {
	case result.Completed():
		return nil
	case result.Terminated():
		return ErrClosed
	case result.Timeout():
		return fmt.Errorf("%w: %w", ErrNotReady, dragonboat.ErrTimeout)
	}
	return fmt.Errorf("%w: %w", ErrNotReady, dragonboat.ErrShardNotReady)
}
