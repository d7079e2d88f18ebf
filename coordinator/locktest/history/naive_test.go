package history_test

import (
	"errors"
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/locktest/history"
	"github.com/palisade-go/palisade/token"
)

var seedFlag = flag.Uint64("history.seed", 0, "the seed of the random histories; 0 draws one")

// world is the contract once more, in the plainest form: all keys and resources
// in one state, and every order tried.
type world struct {
	holder, last map[string]token.Token
	fence        map[string]token.Token
	value        map[string]string
}

// fits reports whether some order of what is left keeps the contract.
func (w world) fits(left []history.Record) bool {
	if len(left) == 0 {
		return true
	}
	for i, r := range left {
		first := !slices.ContainsFunc(left, func(other history.Record) bool { return other.Return < r.Call })
		if !first {
			continue
		}
		rest := slices.Delete(slices.Clone(left), i, i+1)
		for _, next := range w.after(r) {
			if next.fits(rest) {
				return true
			}
		}
	}
	return false
}

func (w world) after(r history.Record) []world {
	next := world{clone(w.holder), clone(w.last), clone(w.fence), map[string]string{}}
	for k, v := range w.value {
		next.value[k] = v
	}
	switch r.Kind {
	case history.End:
		if w.holder[r.Keys[0]] != r.Tokens[0] {
			return nil
		}
		next.holder[r.Keys[0]] = 0
	case history.Acquire:
		if r.Outcome != history.Done {
			return []world{w}
		}
		for i, key := range r.Keys {
			if w.holder[key] != 0 || r.Tokens[i] <= w.last[key] {
				return nil
			}
			next.holder[key], next.last[key] = r.Tokens[i], r.Tokens[i]
		}
	case history.Read:
		if w.value[r.Resource] != r.Value {
			return nil
		}
	case history.Write:
		accepted := r.Token >= w.fence[r.Resource]
		next.fence[r.Resource], next.value[r.Resource] = r.Token, r.Value
		switch {
		case r.Outcome == history.Unknown && accepted:
			return []world{w, next}
		case r.Outcome == history.Unknown, r.Outcome == history.Stale && !accepted:
			return []world{w}
		case accepted != (r.Outcome == history.Done):
			return nil
		}
	}
	return []world{next}
}

func clone(m map[string]token.Token) map[string]token.Token {
	c := map[string]token.Token{}
	for k, v := range m {
		c[k] = v
	}
	return c
}

// draw makes a history that may be right and is often almost right.
func draw(random *rand.Rand) []history.Record {
	var records []history.Record
	interval := func() (history.Instant, history.Instant) {
		call := history.Instant(random.IntN(12))
		return call, call + history.Instant(random.IntN(6))
	}
	for t := token.Token(1); len(records) < 6; t++ {
		call, back := interval()
		if random.IntN(2) == 0 {
			keys := []string{"k", "l"}[random.IntN(2):]
			r := granted(call, back, "c", max(1, t-token.Token(random.IntN(2))), keys...)
			records = append(records, r)
			for i, key := range keys {
				call := back + history.Instant(random.IntN(4))
				end := call + history.Instant(random.IntN(4))
				if random.IntN(4) == 0 {
					end = never
				}
				records = append(records, ended(call, end, "c", r.Tokens[i], key))
			}
			continue
		}
		value := []string{"x", "y"}[random.IntN(2)]
		switch random.IntN(4) {
		case 0:
			records = append(records, read(call, back, value))
		case 1:
			records = append(records, wrote(call, back, history.Stale, t, value))
		case 2:
			records = append(records, wrote(call, never, history.Unknown, t, value))
		default:
			records = append(records, wrote(call, back, history.Done, t, value))
		}
	}
	return records
}

func TestAgreesWithTryingEveryOrder(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	random := rand.New(rand.NewPCG(seed, 0))
	kept, broken := 0, 0
	for n := range 4000 {
		records := draw(random)
		fits := world{value: map[string]string{}}.fits(records)
		err := history.Check(records, time.Minute)
		if fits {
			kept++
		} else {
			broken++
		}
		if fits != (err == nil) || err != nil && !errors.Is(err, history.ErrViolation) {
			require.Fail(t, "they differ", "history %d of -history.seed %d: every order says kept=%v, Check says %v\n%v", n, seed, fits, err, records)
		}
	}
	require.Greater(t, kept, 200, "seed %d", seed)
	require.Greater(t, broken, 200, "seed %d", seed)
}
