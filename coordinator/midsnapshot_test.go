package coordinator_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/internal/inject"
	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/transport"
)

// S115 for certain: a node is closed while a snapshot is held up by a peer. See
// package raftnode for one that is held up by the disk.

// heldChunks holds up what a node sends of snapshots, as a peer does that takes
// nothing more. Such a send ends with its link.
type heldChunks struct {
	transport.Network
	gate *gate
}

// Dial implements transport.Network.
func (n heldChunks) Dial(ctx context.Context, from, to string, kind transport.Kind) (transport.Link, error) {
	link, err := n.Network.Dial(ctx, from, to, kind)
	if err != nil || kind != transport.Chunks {
		return link, err
	}
	return &heldLink{Link: link, gate: n.gate, closed: make(chan struct{})}, nil
}

type heldLink struct {
	transport.Link
	gate   *gate
	once   sync.Once
	closed chan struct{}
}

// Send implements transport.Link.
func (l *heldLink) Send(frame []byte) error {
	passed := make(chan struct{})
	go func() {
		defer close(passed)
		l.gate.pass()
	}()
	select {
	case <-passed:
		return l.Link.Send(frame)
	case <-l.closed:
		return transport.ErrClosed
	}
}

// Close implements transport.Link.
func (l *heldLink) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Link.Close()
}

// The leader is closed while it sends a snapshot to a node that takes nothing of
// it. Close gives that up, and the next leader sends one.
func TestS115CloseWhileASnapshotIsBeingSent(t *testing.T) {
	t.Parallel()
	b := newBare(t, false)
	held := newGate()
	t.Cleanup(held.lift)
	var controls [4]inject.Controls // by node
	open := func(number coordinator.NodeID, gate *gate) *coordinator.Coordinator {
		return b.open(number, inject.Env{
			SnapshotEntries: few, Opened: func(c inject.Controls) { controls[number] = c },
			Network: func(m transport.Member) (transport.Network, error) {
				joined, err := b.network.Join(m)
				return heldChunks{joined, gate}, err
			},
		})
	}
	one, two, late := open(1, held), open(2, newGate()), open(3, newGate())
	for _, c := range []*coordinator.Coordinator{one, two, late} {
		require.NoError(t, c.WaitReady(patient(t)))
	}
	require.NoError(t, late.Close())
	for i := range locktest.Groups * 2 * few { // so that all logs are cut off
		lease, err := two.Acquire(patient(t), fmt.Sprint("key ", i))
		require.NoError(t, err)
		release(t, lease)
	}
	held.shut()
	late = open(3, newGate())
	require.Eventually(t, func() bool {
		for group := 1; group <= locktest.Groups; group++ {
			_ = controls[2].Lead(group, 1) // a wish
		}
		return len(held.blocked) > 0
	}, patience, 20*time.Millisecond, "node 1 sends a snapshot")

	require.NoError(t, within(t, one.Close))
	require.NoError(t, late.WaitReady(patient(t)))
	installed := uint64(0)
	for group := 1; group <= locktest.Groups; group++ {
		installed += controls[3].Faults(group).SnapshotsInstalled
	}
	require.NotZero(t, installed)
	held.lift()
	one = open(1, held)
	require.NoError(t, one.WaitReady(patient(t)))
	stopAll(t, []*coordinator.Coordinator{one, two, late}, (*coordinator.Coordinator).Close)
}
