package crew

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Locker takes locks for one worker, and is used by one goroutine. It may hold
// a session or a connection.
type Locker interface {
	// Acquire waits until it has all keys.
	Acquire(ctx context.Context, keys []string) error
	// Release gives back what the last Acquire took, and returns when that
	// is confirmed. After an Acquire that failed there may be nothing.
	Release(ctx context.Context) error
	Close() error
}

// Site is a place with workers. Its Lockers stay open between plans.
type Site struct {
	open func(ctx context.Context) (Locker, error)
	now  func() Instant

	mu      sync.Mutex
	lockers []Locker
}

// NewSite makes a site whose workers get their Lockers from open.
func NewSite(open func(ctx context.Context) (Locker, error)) *Site {
	return &Site{open: open, now: Now}
}

// Ready opens Lockers until there are enough for some workers. Opening many is
// slow with some peers, and no part of what is measured.
func (s *Site) Ready(ctx context.Context, workers int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.lockers) < workers {
		locker, err := s.open(ctx)
		if err != nil {
			return fmt.Errorf("open the locker of worker %d: %w", len(s.lockers), err)
		}
		s.lockers = append(s.lockers, locker)
	}
	return nil
}

// Run carries out a plan. It returns after the last worker has released: one
// that waits in line when the time is over gets its turn. A failure ends the
// plan unless its workers are patient.
func (s *Site) Run(ctx context.Context, p Plan) (Tally, error) {
	if err := s.Ready(ctx, p.Workers); err != nil {
		return Tally{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	from := s.now().Add(p.Warm)
	w := worker{plan: p, now: s.now, from: from, to: from.Add(p.For)}
	tallies := make([]Tally, p.Workers)
	var all sync.WaitGroup
	for i := range p.Workers {
		all.Add(1)
		go func() {
			defer all.Done()
			tally, err := w.work(ctx, s.lockers[i], p.First+i)
			if err != nil {
				cancel(fmt.Errorf("worker %d: %w", p.First+i, err))
			}
			tallies[i] = tally
		}()
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil {
		return Tally{}, err
	}
	sum := Tally{Counted: p.For}
	for _, t := range tallies {
		sum.Merge(t)
	}
	return sum, nil
}

// Close closes all Lockers.
func (s *Site) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, locker := range s.lockers {
		errs = append(errs, locker.Close())
	}
	s.lockers = nil
	return errors.Join(errs...)
}

// worker is what all workers of a plan have in common.
type worker struct {
	plan     Plan
	now      func() Instant
	from, to Instant // the time that counts
}

// failurePause keeps a patient worker from asking a dead leader without end.
// It is short against what is measured that way, an election.
const failurePause = 5 * time.Millisecond

func (w worker) work(ctx context.Context, locker Locker, number int) (Tally, error) {
	t := Tally{Turns: make([]uint64, 1)}
	keys := w.plan.keys(number)
	for turn := 0; w.plan.Turns == 0 || turn < w.plan.Turns; turn++ {
		began := w.now()
		if began >= w.to {
			return t, nil
		}
		err := locker.Acquire(ctx, keys(turn))
		got := w.now()
		if err == nil && w.plan.Stamps {
			t.Grants = append(t.Grants, Grant{began, got})
		}
		err = errors.Join(err, locker.Release(ctx))
		ended := w.now()
		switch {
		case ctx.Err() != nil:
			return t, nil // another worker's failure is told by the site
		case err != nil && !w.plan.Patient:
			return t, err
		case err != nil:
			t.Failures++
			pause(ctx, failurePause)
		case ended >= w.from && ended < w.to:
			t.Pairs++
			t.Turns[0]++
			t.Acquire.Add(got.Sub(began))
			t.Release.Add(ended.Sub(got))
		}
		if w.plan.Pause > 0 {
			pause(ctx, w.plan.Pause)
		}
	}
	return t, nil
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
