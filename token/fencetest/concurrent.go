package fencetest

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/palisade-go/palisade/token"
)

// concurrentRules let many writers at a guard at once, with everything that
// they can do.
var concurrentRules = []rule{
	{statement: "ConcurrentWritersLeaveWhatSomeOrderOfThemLeaves", check: concurrentWriters},
}

// writers is how many there are at once.
const writers = 32

// turnsOfRound is how many writes a writer makes in a round at most: an order
// of all that happens in a round is to be found soon, and the ids of operations
// are to stay few.
const turnsOfRound = 16

// concurrentWriters draws what the writers do, with tokens that overlap and
// operations that collide. They make one call each at once, and wait for one
// another: a writer that ran ahead would leave only refusals to the others.
func concurrentWriters(t *trial) {
	d := newDraw(t)
	all := t.steps / 2 / writers
	seen := make(map[effect]int)
	for first := 0; first < all; first += turnsOfRound {
		lists := listsOf("round", first/turnsOfRound+1)
		t.calls = nil
		for at := range min(turnsOfRound, all-first) {
			var calls []call
			for who := range writers {
				c := d.concurrent(at)
				c.write.Resource = lists[d.IntN(len(lists))]
				if c.verb != accept {
					c.entry += fmt.Sprintf(" of writer %d", who+1)
				}
				calls = append(calls, c)
			}
			t.together(calls)
		}
		for _, c := range t.calls {
			seen[c.seen().effect]++
		}
		for _, list := range lists {
			t.judgeHistory(list)
		}
	}
	t.requireEffects(seen)
	t.Logf("outcomes with seed %d: %v", t.seed, seen)
}

// requireEffects fails a run that has shown nothing about an effect.
func (t *trial) requireEffects(seen map[effect]int) {
	t.Helper()
	for _, effect := range []effect{written, stale, repeated} {
		if seen[effect] == 0 && !(effect == repeated && t.traits.NoOperations) {
			t.stop("", "%d writers saw no call that came to %q: %v", writers, effect, seen)
		}
	}
}

// concurrent draws the call of a writer's turn, without the resource. Tokens
// rise turn by turn, as those of owners that follow one another, and some are
// late.
func (d *draw) concurrent(at int) call {
	c := d.call(fmt.Sprintf("entry %d", at+1))
	c.write.Token = token.Token(1 + 2*at + d.IntN(4))
	c.write.Operation = d.operation(c, 2*at)
	return c
}

// together makes all calls at once and waits for their ends.
func (t *trial) together(calls []call) {
	var done sync.WaitGroup
	start := make(chan struct{}) // closed here, once every call has its goroutine
	for i := range calls {
		done.Add(1)
		go func() {
			defer done.Done()
			<-start
			c := &calls[i]
			c.began = t.clock.Add(1)
			*c = c.run(t.ctx, t.guard)
			c.ended = t.clock.Add(1)
		}()
	}
	close(start)
	done.Wait()
	t.calls = append(t.calls, calls...)
	slices.SortFunc(t.calls, func(a, b call) int { return cmp.Compare(a.ended, b.ended) })
}

// judgeHistory checks what the calls at a resource came to and left there, and
// returns that.
func (t *trial) judgeHistory(resource string) shelf {
	t.Helper()
	h := history{traits: t.traits}
	for _, c := range t.calls {
		if c.write.Resource == resource {
			h.calls = append(h.calls, c)
		}
	}
	h.left = shelf{highest: t.highest(resource), entries: t.entries(resource)}
	if err := h.check(); err != nil {
		t.stop(resource, "%v", err)
	}
	return h.left
}
