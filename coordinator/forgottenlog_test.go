package coordinator_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// forgottenLog keeps what nodes log of leases that were forgotten.
type forgottenLog struct {
	// gate is held while the log takes nothing: whoever logs is blocked.
	gate sync.Mutex

	mu      sync.Mutex
	records []forgottenLease
}

// forgottenLease is one such record.
type forgottenLease struct {
	level slog.Level
	node  coordinator.NodeID
	key   string
	token string
	held  time.Duration
}

// Enabled implements slog.Handler.
func (l *forgottenLog) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs implements slog.Handler.
func (l *forgottenLog) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup implements slog.Handler.
func (l *forgottenLog) WithGroup(string) slog.Handler { return l }

// Handle implements slog.Handler.
func (l *forgottenLog) Handle(_ context.Context, r slog.Record) error {
	if r.Message != "a lease was forgotten without a release: it is released now" {
		return nil
	}
	l.gate.Lock()
	defer l.gate.Unlock()
	found := forgottenLease{level: r.Level}
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "node":
			found.node = a.Value.Any().(coordinator.NodeID)
		case "key":
			found.key = a.Value.String()
		case "token":
			found.token = fmt.Sprint(a.Value.Any())
		case "held":
			found.held = a.Value.Duration()
		}
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = append(l.records, found)
	return nil
}

// of returns what was logged of a key.
func (l *forgottenLog) of(key string) []forgottenLease {
	l.mu.Lock()
	defer l.mu.Unlock()
	var of []forgottenLease
	for _, one := range l.records {
		if one.key == key {
			of = append(of, one)
		}
	}
	return of
}

// awaitCollected lets the collector run until something holds.
func awaitCollected(t testing.TB, c *locktest.Cluster, what string, holds func() bool) {
	t.Helper()
	require.NoError(t, c.Await(patient(t), what, func() bool {
		runtime.GC()
		return holds()
	}))
}

// collectAll returns when all that was forgotten before has been collected, and
// its finalizers have run: the same has happened to leases that were forgotten
// later, one after the other, and whose finalizers run in the same goroutine.
func collectAll(t testing.TB) {
	t.Helper()
	log := &forgottenLog{}
	c := newCluster(t, 1, locktest.WithLogger(slog.New(log)))
	for i := range 3 {
		key := fmt.Sprint("forgotten later ", i)
		forget(t, c.Node(1), key, nothing)
		awaitCollected(t, c, "its end", func() bool { return len(log.of(key)) == 1 })
	}
}

// forget takes a lease and forgets it, but for what keep returns.
// No stack has it any more afterwards.
func forget(t testing.TB, n *locktest.Node, key string, keep func(*coordinator.Lease) any, opts ...coordinator.AcquireOption) any {
	t.Helper()
	return elsewhere(t, func() (any, error) {
		lease, err := n.Coordinator().Acquire(patient(t), key, opts...)
		if err != nil {
			return nil, err
		}
		return keep(lease), nil
	})
}

// forgetSet is forget for several keys.
func forgetSet(t testing.TB, n *locktest.Node, keys []string, keep func(*coordinator.LeaseSet) any) any {
	t.Helper()
	return elsewhere(t, func() (any, error) {
		set, err := n.Coordinator().AcquireAll(patient(t), keys)
		if err != nil {
			return nil, err
		}
		return keep(set), nil
	})
}

// elsewhere calls a function on a stack that is gone afterwards.
func elsewhere(t testing.TB, take func() (any, error)) any {
	t.Helper()
	var kept any
	failed := make(chan error, 1)
	go func() {
		var err error
		kept, err = take()
		failed <- err
	}()
	require.NoError(t, <-failed)
	return kept
}

// nothing is what forget keeps of a lease, as a rule.
func nothing(*coordinator.Lease) any { return nil }

// fence keeps the token, which is no lease.
func fence(l *coordinator.Lease) any { return l.Token() }
