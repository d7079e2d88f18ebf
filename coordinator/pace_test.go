package coordinator_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
)

// pace acquires and releases free keys of a node all the time, each in a
// goroutine of its own, and measures the longest time between two successes.
type pace struct {
	leave   context.CancelFunc
	working sync.WaitGroup
	steps   []*step
}

// step is what one goroutine of a pace has seen.
type step struct {
	mu      sync.Mutex
	last    time.Time // of the last success
	longest time.Duration
	again   chan struct{} // closed and replaced at each success
}

// paceRest is how long a goroutine rests between two holds, so that the load
// leaves the machine to the nodes.
const paceRest = 10 * time.Millisecond

func startPace(t *testing.T, c *coordinator.Coordinator, keys []string) *pace {
	ctx, cancel := context.WithCancel(context.Background())
	p := &pace{leave: cancel}
	for _, key := range keys {
		s := &step{last: time.Now(), again: make(chan struct{})}
		p.steps = append(p.steps, s)
		p.working.Add(1)
		go func() {
			defer p.working.Done()
			if err := s.run(ctx, c, key); !errors.Is(err, coordinator.ErrClosed) && ctx.Err() == nil {
				t.Errorf("the load on %q: %v", key, err)
			}
		}()
	}
	return p
}

// run goes on until a call fails or ctx ends.
func (s *step) run(ctx context.Context, c *coordinator.Coordinator, key string) error {
	rest := time.NewTicker(paceRest)
	defer rest.Stop()
	for {
		lease, err := c.Acquire(ctx, key)
		if err != nil {
			return err
		}
		s.succeeded()
		if err := lease.Release(context.Background()); err != nil {
			return err
		}
		select {
		case <-rest.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *step) succeeded() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.longest = max(s.longest, now.Sub(s.last))
	s.last = now
	close(s.again)
	s.again = make(chan struct{})
}

// reset forgets all gaps but those that are open.
func (p *pace) reset() {
	for _, s := range p.steps {
		s.mu.Lock()
		s.longest = 0
		s.mu.Unlock()
	}
}

// longestGap returns the longest gap since reset. It waits for the end of
// those that are open.
func (p *pace) longestGap(t *testing.T) time.Duration {
	t.Helper()
	longest := time.Duration(0)
	for _, s := range p.steps {
		s.mu.Lock()
		again := s.again
		s.mu.Unlock()
		select {
		case <-again:
		case <-patient(t).Done():
			require.FailNow(t, "an acquire of a free key hangs")
		}
		s.mu.Lock()
		longest = max(longest, s.longest)
		s.mu.Unlock()
	}
	return longest
}

// end waits until the node has refused every goroutine.
func (p *pace) end() { p.working.Wait() }

// stop ends the goroutines.
func (p *pace) stop() {
	p.leave()
	p.working.Wait()
}
