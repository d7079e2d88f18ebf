package sqlfence

import (
	"context"
	"fmt"
	"time"

	"github.com/palisade-go/palisade/token"
)

// ForgetRowsMax is how many operations one statement of Forget deletes at
// most.
const ForgetRowsMax = 1000

// Forget deletes the operations that were recorded more than age ago, by the
// database's clock, and returns how many. The guard remembers every operation
// until then: this is what bounds its memory. One that is forgotten can be
// done again by a late retry, as long as its token is not stale; so age is more
// than the longest time for which anything retries. Fences stay for ever.
//
// It deletes ForgetRowsMax at a time, the oldest first, each time in a
// transaction of its own, until it finds fewer or ctx ends. On failure the
// number tells what was deleted before. An age of less than a millisecond is
// refused with token.ErrInvalid. A clock of the database that is set forward
// makes operations older than they are.
func (g *Guard) Forget(ctx context.Context, age time.Duration) (int64, error) {
	if age < time.Millisecond {
		return 0, fmt.Errorf("%w: age %v is less than a millisecond", token.ErrInvalid, age)
	}
	milliseconds := age.Milliseconds()
	if age%time.Millisecond != 0 {
		milliseconds++ // rather too late than too soon
	}
	var forgotten int64
	for {
		var rows int64
		err := g.attempts.run(ctx, func() error {
			result, err := g.db.ExecContext(ctx, g.words.forget, milliseconds, ForgetRowsMax)
			if err != nil {
				return fmt.Errorf("sqlfence: forget: %w", err)
			}
			if rows, err = result.RowsAffected(); err != nil {
				return fmt.Errorf("sqlfence: forget: %w", err)
			}
			return nil
		})
		if err != nil {
			return forgotten, finished(ctx, err)
		}
		forgotten += rows
		if rows < ForgetRowsMax {
			return forgotten, nil
		}
	}
}
