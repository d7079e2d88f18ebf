package metrics_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/coordinator/metrics"
	"github.com/palisade-go/palisade/token"
)

// scrape returns all values by name and label, of a histogram the count.
func scrape(t testing.TB, m *metrics.Metrics) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m)
	families, err := registry.Gather()
	require.NoError(t, err)
	values := make(map[string]float64)
	for _, f := range families {
		for _, one := range f.GetMetric() {
			name := strings.TrimPrefix(f.GetName(), "palisade_")
			for _, l := range one.GetLabel() {
				name += " " + l.GetValue()
			}
			values[name] = valueOf(one)
		}
	}
	return values
}

func valueOf(m *dto.Metric) float64 {
	switch {
	case m.Counter != nil:
		return m.GetCounter().GetValue()
	case m.Gauge != nil:
		return m.GetGauge().GetValue()
	}
	return float64(m.GetHistogram().GetSampleCount())
}

// series returns how many time series there are, buckets included.
func series(t testing.TB, m *metrics.Metrics) (count int) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m)
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		for _, one := range f.GetMetric() {
			count++
			if h := one.GetHistogram(); h != nil {
				count += len(h.GetBucket()) + 2 // the last bucket, and the sum
			}
		}
	}
	return count
}

func TestWhatIsCounted(t *testing.T) {
	subject := coordinator.Subject{Keys: []string{"key"}, TTL: time.Minute, Context: context.Background()}
	moved := func(to coordinator.State, change func(*coordinator.Transition)) coordinator.Event {
		e := &coordinator.Transition{Subject: subject, To: to, Took: time.Second}
		if change != nil {
			change(e)
		}
		return e
	}
	type rises map[string]float64
	cases := []struct {
		event coordinator.Event
		rises rises
	}{
		{moved(coordinator.Queued, nil), rises{}},
		{moved(coordinator.Releasing, nil), rises{"hold_seconds released": 1, "remaining_ratio": 1}},
		{moved(coordinator.Released, nil), rises{"release_seconds": 1}},
		{&coordinator.Overrun{Subject: subject, After: time.Second}, rises{"overruns_total": 1, "overrun_seconds": 1}},
		{&coordinator.Committed{Bytes: 100, Took: time.Second, Attempts: 1}, rises{"commit_seconds": 1, "apply_seconds": 1, "batch_bytes": 1}},
		{&coordinator.Committed{Bytes: 100, Took: time.Second, Attempts: 3}, rises{"commit_seconds": 1, "apply_seconds": 1, "batch_bytes": 1, "batch_retries_total": 2}},
		{&coordinator.Renewing{Failing: true, Leases: 5}, rises{"renew_failures_total": 1}},
		{&coordinator.Renewing{Leases: 5}, rises{}},
		{&coordinator.Expired{Leases: 5}, rises{"expiries_total": 5}},
		{&coordinator.LeaderChanged{Group: 1, Leader: 1, Term: 2}, rises{"leader_changes_total": 1, "elections_total": 1}},
		{&coordinator.LeaderChanged{Group: 1, Leader: 0, Term: 2}, rises{"leader_changes_total": 1}},
		{&coordinator.LeaderChanged{Group: 2, Leader: 1, Term: 2}, rises{"leader_changes_total": 1, "elections_total": 1}},
		{&coordinator.Dropped{Events: 7}, rises{"dropped_events_total": 7}},
	}
	for end := coordinator.WaitOther; end <= coordinator.WaitClosed; end++ {
		to := coordinator.Failed
		if end == coordinator.WaitAcquired {
			to = coordinator.Active
		}
		cases = append(cases, struct {
			event coordinator.Event
			rises rises
		}{moved(to, func(e *coordinator.Transition) { e.Wait = end }), rises{"wait_seconds " + end.String(): 1}})
	}
	for reason := coordinator.LossUnknown; reason <= coordinator.LossClosed; reason++ {
		cases = append(cases, struct {
			event coordinator.Event
			rises rises
		}{
			moved(coordinator.Lost, func(e *coordinator.Transition) { e.Loss = reason }),
			rises{"hold_seconds lost": 1, "losses_total " + reason.String(): 1},
		})
	}
	m := metrics.New()
	before := scrape(t, m)
	for name, value := range before {
		require.Zero(t, value, name)
	}
	for _, c := range cases {
		m.Observe(c.event)
		after := scrape(t, m)
		risen := rises{}
		for name, value := range after {
			if d := value - before[name]; d != 0 {
				risen[name] = d
			}
		}
		require.Equal(t, c.rises, risen, "%+v", c.event)
		before = after
	}
}

func TestRefusedCountsStaleTokensAlone(t *testing.T) {
	m := metrics.New()
	guard := token.NewGuard()
	require.NoError(t, m.Refused(guard.Accept("resource", 2)))
	require.ErrorIs(t, m.Refused(guard.Accept("resource", 1)), token.ErrStale)
	require.ErrorIs(t, m.Refused(context.Canceled), context.Canceled)
	require.Equal(t, 1.0, scrape(t, m)["stale_writes_total"])
}

func TestAMillionKeysMakeNoMoreSeries(t *testing.T) {
	m := metrics.New()
	before := series(t, m)
	for i := range 1_000_000 {
		subject := coordinator.Subject{
			Request: uint64(i), Keys: []string{fmt.Sprintf("key %d", i)}, RequestID: fmt.Sprint(i), TTL: time.Minute, Token: token.Token(i),
		}
		m.Observe(&coordinator.Transition{Subject: subject, From: coordinator.Asked, To: coordinator.Active, Wait: coordinator.WaitAcquired})
		m.Observe(&coordinator.Transition{Subject: subject, From: coordinator.Active, To: coordinator.Lost, Loss: coordinator.LossWindow})
	}
	require.Equal(t, before, series(t, m))
	require.Equal(t, 1_000_000.0, scrape(t, m)["losses_total window"])
}

func TestMetricsOfANode(t *testing.T) {
	m := metrics.New()
	c := locktest.New(t, 3, locktest.WithConfig(func(node int, cfg *coordinator.Config) {
		if node == 1 {
			cfg.Observers = []coordinator.Observer{m}
		}
	}))
	node := c.Node(1).Coordinator()
	m.Watch(node)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	lease, err := node.Acquire(ctx, "key", coordinator.WithTTL(time.Hour))
	require.NoError(t, err)
	require.NoError(t, c.Await(ctx, "the peers", func() bool {
		return scrape(t, m)["peer_reached 2"] == 1 && scrape(t, m)["peer_reached 3"] == 1
	}))
	values := scrape(t, m)
	require.Equal(t, 1.0, values["up"])
	require.Equal(t, 1.0, values["requests"])
	require.Equal(t, 1.0, values[fmt.Sprintf("group_leases %d", c.Group("key"))])
	require.Positive(t, values["disk_free_bytes"])
	require.NoError(t, lease.Release(ctx))
	require.NoError(t, c.Await(ctx, "the counts", func() bool {
		values := scrape(t, m)
		return values["wait_seconds acquired"] == 1 && values["release_seconds"] == 1 && values["commit_seconds"] > 0
	}))
	c.Node(1).Close()
	require.Equal(t, 1.0, scrape(t, m)["hold_seconds released"], "it goes on telling")
}

func TestTheDocumentationNamesAllSeries(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	var documented, described []string
	for _, match := range regexp.MustCompile(`(?m)^//\t([a-z_]+)(?:\{([a-z]+)\})?  `).FindAllStringSubmatch(string(text), -1) {
		documented = append(documented, fmt.Sprintf("palisade_%s [%s]", match[1], match[2]))
	}
	for name, labels := range describedLabels(t) {
		described = append(described, fmt.Sprintf("%s %v", name, labels))
	}
	slices.Sort(documented)
	slices.Sort(described)
	require.Equal(t, documented, described)
}
