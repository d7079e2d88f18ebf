package objectfence

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	pauseMin = 2 * time.Millisecond
	pauseMax = 250 * time.Millisecond
)

// pauseAfter is the longest pause after that many tries.
func pauseAfter(try int) time.Duration {
	return min(pauseMax, pauseMin<<min(try, 10))
}

// pause lets the others who move the same pointer go on, for a random time that
// grows with the tries so far. It returns the context's error when that ends it.
func pause(ctx context.Context, try int) error {
	timer := time.NewTimer(rand.N(pauseAfter(try)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ended(ctx)
	}
}

// ended says that ctx is done, and why.
func ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return fmt.Errorf("objectfence: %w", cause)
	}
	return fmt.Errorf("objectfence: %w: %w", err, cause)
}
