package coordinator_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/internal/inject"
	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/internal/porttest"
	"github.com/palisade-go/palisade/transport"
)

// bare is three nodes that are opened one by one, each in surroundings of its
// own: for what locktest's clusters don't offer.
type bare struct {
	t       *testing.T
	dir     string
	network *transport.Memory // nil: TCP
	peers   map[coordinator.NodeID]string
}

// bareElection is short: most of these tests is waiting for what can't come.
const bareElection = 400 * time.Millisecond

// newBare makes three nodes, none of which is open.
func newBare(t *testing.T, tcp bool) *bare {
	b := &bare{t: t, dir: t.TempDir(), peers: make(map[coordinator.NodeID]string)}
	for i, address := range porttest.Take(t, 3) {
		b.peers[coordinator.NodeID(i+1)] = address
	}
	if !tcp {
		b.network = transport.NewMemory(1)
		t.Cleanup(func() { require.NoError(t, b.network.Close()) })
	}
	return b
}

// open opens a node. It is closed when the test ends, if it is not before.
func (b *bare) open(number coordinator.NodeID, env inject.Env) *coordinator.Coordinator {
	b.t.Helper()
	if b.network != nil && env.Network == nil {
		env.Network = b.network.Join
	}
	c, err := coordinator.Open(inject.With(context.Background(), env), coordinator.Config{
		Dir: filepath.Join(b.dir, fmt.Sprintf("node-%d", number)), Cluster: "bare", NodeID: number, Peers: b.peers,
		Listen: b.peers[number], Groups: locktest.Groups, ElectionTimeout: bareElection, TTL: long,
		TLS: transport.Insecure,
	})
	require.NoError(b.t, err)
	b.t.Cleanup(func() { require.NoError(b.t, c.Close()) })
	return c
}

func TestANodeAloneOpensAndClosesAndItsDirectoryCanBeUsedAgain(t *testing.T) {
	t.Parallel()
	names := []string{"InMemory", "OverTCP"}
	parallel(len(names), func(i int) {
		t.Run(names[i], func(t *testing.T) {
			b := newBare(t, names[i] == "OverTCP")
			const starts = 2
			for start := range starts {
				c := b.open(1, inject.Env{}) // no other node has ever run
				require.Equal(t, uint64(start+1), c.Status().Incarnation)
				waitReadyInVain(t, c)
				blocked := make(chan error, 2)
				began := make(chan struct{}, 2)
				go func() { began <- struct{}{}; blocked <- c.WaitReady(context.Background()) }()
				go func() {
					began <- struct{}{}
					_, err := c.Acquire(context.Background(), "key")
					blocked <- err
				}()
				<-began
				<-began
				stop := (*coordinator.Coordinator).Close
				if start%2 == 1 {
					stop = func(c *coordinator.Coordinator) error { return c.Shutdown(patient(t)) }
				}
				require.NoError(t, within(t, func() error { return stop(c) }))
				for range cap(blocked) {
					require.ErrorIs(t, <-blocked, coordinator.ErrClosed)
				}
				require.ErrorIs(t, c.WaitReady(patient(t)), coordinator.ErrClosed)
			}

			// With the others it is a cluster, as if nothing had been.
			var nodes []*coordinator.Coordinator
			for number := range b.peers {
				nodes = append(nodes, b.open(number, inject.Env{}))
			}
			for _, c := range nodes {
				require.NoError(t, c.WaitReady(patient(t)))
				lease, err := c.Acquire(patient(t), "key")
				require.NoError(t, err)
				release(t, lease)
				if c.Status().NodeID == 1 {
					require.Equal(t, uint64(starts+1), c.Status().Incarnation)
				}
			}
			stopAll(t, nodes, (*coordinator.Coordinator).Close)
		})
	})
}

// waitReadyInVain waits for a node that can't be ready, with every sort of
// context.
func waitReadyInVain(t *testing.T, c *coordinator.Coordinator) {
	t.Helper()
	var none context.Context
	require.ErrorIs(t, c.WaitReady(none), coordinator.ErrInvalid)

	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, c.WaitReady(cancelled), context.Canceled)

	short, cancel := context.WithTimeout(context.Background(), bareElection)
	defer cancel()
	err := within(t, func() error { return c.WaitReady(short) })
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, coordinator.ErrUnavailable)
	require.ErrorContains(t, err, "group 1")
	require.Equal(t, coordinator.NotApplied, outcomeOf(t, err))

	left, leave := context.WithCancelCause(context.Background())
	why := fmt.Errorf("the program has changed its mind")
	defer time.AfterFunc(bareElection, func() { leave(why) }).Stop()
	err = within(t, func() error { return c.WaitReady(left) })
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, why)
}
