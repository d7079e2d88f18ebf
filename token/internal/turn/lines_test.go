package turn

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOneCallerAtATimeHasTheTurn(t *testing.T) {
	var lines Lines
	var all sync.WaitGroup
	inside, most, count := 0, 0, 0 // what the turn guards; the race detector looks too
	for range 50 {
		all.Add(1)
		go func() {
			defer all.Done()
			for range 50 {
				give, err := lines.Take(context.Background(), "r")
				if err != nil {
					t.Error(err)
					return
				}
				inside++
				count++
				most = max(most, inside)
				inside--
				give()
			}
		}()
	}
	all.Wait()
	require.Equal(t, 1, most)
	require.Equal(t, 2500, count)
	require.Empty(t, lines.lines, "nobody is in line, so there is none")
}

func TestResourcesDoNotWaitForEachOther(t *testing.T) {
	var lines Lines
	giveR, err := lines.Take(context.Background(), "r")
	require.NoError(t, err)
	giveS, err := lines.Take(context.Background(), "s")
	require.NoError(t, err)
	require.Equal(t, 1, lines.Callers("r"))
	giveR()
	giveS()
	require.Zero(t, lines.Callers("r"))
}

func TestTheContextEndsAWait(t *testing.T) {
	var lines Lines
	give, err := lines.Take(context.Background(), "r")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		_, err := lines.Take(ctx, "r")
		ended <- err
	}()
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	give()
	require.Empty(t, lines.lines)
	give, err = lines.Take(context.Background(), "r")
	require.NoError(t, err, "who left holds nobody up")
	give()
}

func TestAFreeTurnIsNotTakenWithAFinishedContext(t *testing.T) {
	var lines Lines
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 200 { // select chooses at random
		_, err := lines.Take(ctx, "r")
		require.ErrorIs(t, err, context.Canceled)
	}
	require.Empty(t, lines.lines)
}
