package sqlfence

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// Between attempts there is a pause of a random length up to a limit that
// doubles, so that those who collided don't collide again.
const (
	pauseFirst = 2 * time.Millisecond
	pauseMax   = 250 * time.Millisecond
)

// pauseLimit is the longest pause after the nth attempt, n from 1.
func pauseLimit(n int) time.Duration {
	const doublingsMax = 7 // beyond pauseMax, and far from an overflow
	return min(pauseMax, pauseFirst<<min(n-1, doublingsMax))
}

// pause waits after the nth attempt. It returns the context's error if that
// ends first.
func pause(ctx context.Context, n int) error {
	timer := time.NewTimer(1 + rand.N(pauseLimit(n)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// attempts is how often something is begun, and how.
type attempts struct {
	database database
	max      int
	pause    func(ctx context.Context, n int) error
}

// run calls once until it returns nil or an error that another attempt can't
// change. An unknown outcome is one.
func (a attempts) run(ctx context.Context, once func() error) error {
	for n := 1; ; n++ {
		err := once()
		switch {
		case err == nil || !a.database.again(err):
			return err
		case n >= a.max:
			return fmt.Errorf("%w: gave up after %d attempts, the last: %w", ErrContended, n, err)
		}
		if ended := a.pause(ctx, n); ended != nil {
			return err
		}
	}
}
