package fencetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

// anyOrder tries every order of the calls, as findOrder says that it need not.
func anyOrder(traits Traits, calls []call, left shelf) bool {
	var extend func(order, rest []call) bool
	extend = func(order, rest []call) bool {
		if len(rest) == 0 {
			return explains(traits, order, left)
		}
		for i, c := range rest {
			if preceded(c, rest) {
				continue
			}
			if extend(append(slices.Clone(order), c), slices.Delete(slices.Clone(rest), i, i+1)) {
				return true
			}
		}
		return false
	}
	return extend(nil, calls)
}

// explains says whether the calls in this order come to what they came to.
func explains(traits Traits, order []call, left shelf) bool {
	model := newReference(traits)
	for _, c := range order {
		expected, _ := model.judge(c)
		if !model.agrees(c, expected) {
			return false
		}
		model.keep(c, expected, traits.KeepsFenceOfFailedWrite && slices.Contains(left.entries, c.entry))
	}
	end := model.shelf("list")
	return end.highest == left.highest && slices.Equal(end.entries, left.entries)
}

// drawHistory makes calls that came to what the reference says in some order,
// and changes some of that now and then.
func drawHistory(rng *rand.Rand, traits Traits) (calls []call, left shelf) {
	model := newReference(traits)
	drawn := 2 + rng.IntN(5)
	for i := range drawn {
		c := call{verb: verbs[rng.IntN(len(verbs))], write: on("list", token.Token(1+rng.IntN(3)), "")}
		if c.verb != accept {
			c.entry = fmt.Sprintf("entry %d", i)
			if rng.IntN(5) == 0 {
				c.entry = "fail " + c.entry
			}
			c.write.Operation = []token.Operation{"", "a", "b"}[rng.IntN(3)]
		}
		expected, _ := model.judge(c)
		model.keep(c, expected, traits.KeepsFenceOfFailedWrite && rng.IntN(2) == 0)
		calls = append(calls, came(c, expected))
	}
	// Each took effect at its place in the order, and began before and ended
	// after that. What overlaps could have come in another order.
	for i := range calls {
		calls[i].began = int64(100*i - rng.IntN(300))
		calls[i].ended = int64(100*i + 1 + rng.IntN(300))
	}
	left = *model.shelf("list")
	left.entries = slices.Clone(left.entries)
	if rng.IntN(2) == 0 {
		spoil(rng, calls, &left)
	}
	rng.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
	return calls, left
}

// came makes a call come to an outcome.
func came(c call, o outcome) call {
	c.receipt = o.receipt
	switch o.effect {
	case stale:
		refusal := o.refusal
		c.err = &refusal
	case invalid:
		c.err = token.ErrInvalid
	case failed:
		c.err = errWrite
	}
	return c
}

// spoil changes one thing of a history. It may still be a possible one.
func spoil(rng *rand.Rand, calls []call, left *shelf) {
	c := &calls[rng.IntN(len(calls))]
	switch rng.IntN(5) {
	case 0:
		c.write.Token = token.Token(1 + rng.IntN(3))
	case 1:
		if n := len(left.entries); n > 1 {
			i := rng.IntN(n - 1)
			left.entries[i], left.entries[i+1] = left.entries[i+1], left.entries[i]
		}
	case 2:
		left.highest = token.Token(1 + rng.IntN(3))
	case 3:
		c.err = &token.StaleError{Resource: "list", Given: c.write.Token, Highest: token.Token(1 + rng.IntN(3))}
	case 4:
		c.ended = c.began + 1
	}
}

func TestFindOrderFindsOneExactlyIfThereIsOne(t *testing.T) {
	seed := seedOfRun(t)
	for _, keeps := range []bool{false, true} {
		traits := Traits{KeepsFenceOfFailedWrite: keeps}
		rng := rand.New(rand.NewPCG(seed, 1))
		found := map[bool]int{}
		for i := range *historiesFlag {
			calls, left := drawHistory(rng, traits)
			want := anyOrder(traits, calls, left)
			err := findOrder(newReference(traits), calls, left)
			require.Equal(t, want, err == nil, "history %d of seed %d, keeping the fence %t: %v\ncalls: %v\nleft: %q, fence %s",
				i, seed, keeps, err, calls, left.entries, left.highest)
			found[want]++
		}
		require.Greater(t, found[true], *historiesFlag/4)
		require.Greater(t, found[false], *historiesFlag/10)
	}
}
