package main

import (
	"context"
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// startNode starts one node of three. It never gets ready.
func startNode(t *testing.T) *process {
	t.Setenv(programVariable, "1")
	block, err := takePorts(len(members))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, block.first.Close()) })
	p, err := startProcess(os.Args[0], settings{node: 1, dir: t.TempDir(), addresses: block.addresses})
	require.NoError(t, err)
	require.NoError(t, p.hear(context.Background(), "opened"))
	return p
}

func TestProcess(t *testing.T) {
	ctx := context.Background()
	t.Run("ThatIsStoppedGoesOnAndEndsInGoodOrder", func(t *testing.T) {
		p := startNode(t)
		require.NoError(t, p.stop(ctx))
		require.NoError(t, p.signal(syscall.SIGTERM))
		short, cancel := context.WithCancel(ctx)
		cancel()
		_, err := p.expect(short, "stopped")
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, p.signal(syscall.SIGCONT))
		require.NoError(t, p.end(ctx))
	})
	t.Run("ThatIsStoppedCanBeKilled", func(t *testing.T) {
		p := startNode(t)
		require.NoError(t, p.stop(ctx))
		require.NoError(t, p.kill())
	})
	t.Run("EndsWithItsOrders", func(t *testing.T) {
		p := startNode(t)
		require.NoError(t, p.orders.Close())
		require.NoError(t, p.end(ctx))
		require.Error(t, p.kill(), "nothing is left to be killed")
	})
	t.Run("ThatHasEndedIsNotStopped", func(t *testing.T) {
		p := startNode(t)
		require.NoError(t, p.cmd.Process.Kill())
		_, err := p.next(ctx)
		require.ErrorIs(t, err, io.EOF)
		require.ErrorContains(t, p.stop(ctx), "node 1 should be stopped, but it has ended")
		require.Error(t, p.kill())
	})
	t.Run("ThatSaysSomethingElseIsAnError", func(t *testing.T) {
		p := startNode(t)
		require.NoError(t, p.signal(syscall.SIGTERM))
		require.ErrorContains(t, p.hear(ctx, "stopped at once"), `node 1 should say "stopped at once", but it says: stopped`)
		p = startNode(t)
		require.NoError(t, p.signal(syscall.SIGTERM))
		_, err := p.expect(ctx, "ready")
		require.ErrorContains(t, err, `node 1 should say "ready", but it says: stopped`)
	})
}
