package pebblefence

import (
	"context"
	"errors"
	"fmt"
)

// ended says that ctx is done, and why.
func ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return fmt.Errorf("pebblefence: nothing was written: %w", cause)
	}
	return fmt.Errorf("pebblefence: nothing was written: %w: %w", err, cause)
}
