package main

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
)

// terminals are three nodes that a person runs by hand.
type terminals struct {
	*cluster
	t   *testing.T
	ttl time.Duration
}

// long is a TTL that no test outlasts, however busy the machine is.
const long = time.Hour

// openTerminals starts all nodes at once, which make their certificates, and
// waits until they are ready.
func openTerminals(t *testing.T, ttl time.Duration) *terminals {
	t.Setenv(programVariable, "1")
	c, err := newCluster(t.TempDir())
	require.NoError(t, err)
	o := &terminals{c, t, ttl}
	t.Cleanup(func() {
		for _, p := range c.running {
			_ = p.kill()
			if t.Failed() {
				t.Log(p.testimony())
			}
		}
		require.NoError(t, c.ports.first.Close())
	})
	for _, id := range members {
		o.open(id)
	}
	for _, id := range members {
		o.hear(id, "ready")
	}
	return o
}

// open starts a node without waiting for anything.
func (o *terminals) open(id coordinator.NodeID) {
	o.t.Helper()
	p, err := startProcess(o.program, settings{node: id, dir: o.dir, addresses: o.ports.addresses, ttl: o.ttl})
	require.NoError(o.t, err)
	o.running[id] = p
	o.hear(id, "opened")
}

func (o *terminals) hear(id coordinator.NodeID, word string) string {
	o.t.Helper()
	rest, err := o.running[id].expect(context.Background(), word)
	require.NoError(o.t, err)
	return rest
}

// enter types an order and reads the answer.
func (o *terminals) enter(id coordinator.NodeID, order, word string) string {
	o.t.Helper()
	rest, err := o.running[id].obey(context.Background(), order, word)
	require.NoError(o.t, err)
	return rest
}

func TestNodesByHand(t *testing.T) {
	o := openTerminals(t, long)
	for _, wrong := range []string{"", "help", "write text", "ask me", "renew", "release"} {
		word := "failed"
		if wrong == "ask me" {
			word = "ended" // there is no lease
		}
		o.enter(1, wrong, word)
	}
	first := o.enter(1, "acquire", "acquired")
	require.Contains(t, o.enter(1, "acquire", "failed"), "held, or asked for")
	require.Equal(t, "behind node 1", o.enter(2, "acquire", "waiting"))
	require.Contains(t, o.enter(2, "acquire", "failed"), "held, or asked for")
	require.Equal(t, first, o.enter(1, "write some text", "wrote"))
	require.Equal(t, first, o.enter(1, "ask", "held"))
	require.Equal(t, first, o.enter(1, "renew", "renewed"))
	require.Equal(t, first, o.enter(1, "release", "released"))
	second := o.hear(2, "acquired")
	require.Contains(t, o.enter(1, "ask", "ended"), coordinator.ErrReleased.Error())

	// Ctrl-C, and the end of the input: both release, and go with status 0.
	require.Equal(t, "behind node 2", o.enter(3, "acquire", "waiting"))
	require.NoError(t, o.running[2].signal(syscall.SIGINT))
	require.Equal(t, second, o.hear(2, "released"))
	require.NoError(t, o.ended(context.Background(), 2))
	third := o.hear(3, "acquired")
	require.NoError(t, o.running[3].orders.Close())
	require.Equal(t, third, o.hear(3, "released"))
	require.NoError(t, o.ended(context.Background(), 3))
	require.NoError(t, o.stop(1))
	require.NoError(t, o.ended(context.Background(), 1))
}

func TestNodeSaysByItselfThatItsLeaseIsLost(t *testing.T) {
	o := openTerminals(t, shortTTL)
	o.enter(1, "acquire", "acquired")
	for _, id := range []coordinator.NodeID{2, 3} {
		require.NoError(t, o.cluster.kill(o.running[id]))
	}
	require.Contains(t, o.hear(1, "lost"), coordinator.ErrLeaseLost.Error())
	// No quorum confirms anything, and it goes all the same.
	require.NoError(t, o.stop(1))
	require.NoError(t, o.ended(context.Background(), 1))
}

func TestNodeThatLostItsDirectoryIsRefusedAndEnds(t *testing.T) {
	o := openTerminals(t, long)
	require.NoError(t, o.stop(3))
	require.NoError(t, o.ended(context.Background(), 3))
	s := settings{node: 3, dir: o.dir, ttl: o.ttl, addresses: o.ports.addresses}
	require.NoError(t, os.RemoveAll(s.config().Dir))
	o.open(3)
	p := o.running[3]
	o.hear(3, "stopped")
	delete(o.running, 3)
	_, more := <-p.lines
	require.False(t, more)
	require.Error(t, p.cmd.Wait())
	require.Equal(t, 1, p.cmd.ProcessState.ExitCode())
	require.Contains(t, p.errors.String(), string(coordinator.RefusedDirectory))
}
