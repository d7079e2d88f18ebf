package sim

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"time"
)

// stream is the random source of one actor. Its numbers depend on the seed
// and on the actor's name alone, so what others draw doesn't move them.
type stream struct{ *rand.Rand }

func newStream(seed int64, name ...any) stream {
	return stream{rand.New(rand.NewChaCha8(sha256.Sum256(fmt.Appendln(nil, append(name, seed)...))))}
}

func (s stream) chance(percent int) bool { return s.IntN(100) < percent }

// between returns a duration from least to most.
func (s stream) between(least, most time.Duration) time.Duration {
	return least + time.Duration(s.Int64N(int64(most-least)+1))
}

// span is a range of durations.
type span struct{ least, most time.Duration }

func (s stream) within(d span) time.Duration { return s.between(d.least, d.most) }
