package metrics

import (
	"errors"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/token"
)

const namespace = "palisade"

// Metrics is an observer of one node and a collector of what it was told. All its
// methods are safe for concurrent use.
type Metrics struct {
	waits, holds                                                       *prometheus.HistogramVec
	releases, remaining, overrunTimes, commits, applies, sizes, delays prometheus.Histogram
	losses                                                             *prometheus.CounterVec
	overruns, expiries, renewFailures, staleWrites, retries            prometheus.Counter
	leaderChanges, elections, dropped                                  prometheus.Counter
	terms                                                              map[int]uint64 // by group; Observe's alone

	watched atomic.Pointer[status]
}

// New returns metrics that have counted nothing.
func New() *Metrics {
	m := &Metrics{
		waits:         vector("wait_seconds", "How long requests waited, by how that ended.", durations, "end"),
		holds:         vector("hold_seconds", "How long leases were held, until they were released or lost.", durations, "end"),
		releases:      histogram("release_seconds", "From a release to its confirmation.", durations),
		remaining:     histogram("remaining_ratio", "What was left of the safe window at a release, as a share of the TTL.", shares),
		overrunTimes:  histogram("overrun_seconds", "How long after its loss a lost lease was released.", durations),
		commits:       histogram("commit_seconds", "From a batch's first attempt until it is seen applied.", durations),
		applies:       histogram("apply_seconds", "The last part of commit_seconds: from when a replica began to apply the batch.", durations),
		sizes:         histogram("batch_bytes", "Sizes of the batches.", prometheus.ExponentialBuckets(64, 4, 8)),
		delays:        histogram("schedule_delay_seconds", "How late a timer of a second was.", durations),
		overruns:      counter("overruns_total", "Leases released by their owner after they were lost."),
		expiries:      counter("expiries_total", "Leases that a group expired although this process lived."),
		renewFailures: counter("renew_failures_total", "How often renewing began to fail in a group."),
		staleWrites:   counter("stale_writes_total", "Writes that guards refused as stale."),
		retries:       counter("batch_retries_total", "Attempts to send a batch again."),
		leaderChanges: counter("leader_changes_total", "Changes of leader or term, all groups together."),
		elections:     counter("elections_total", "Rises of a term, all groups together."),
		dropped:       counter("dropped_events_total", "Events that were not counted."),
		losses: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "losses_total", Help: "Leases lost, by reason.",
		}, []string{"reason"}),
		terms: make(map[int]uint64),
	}
	// What has not happened yet shows as zero: an alert on a rise needs the zero.
	for end := coordinator.WaitOther; end <= coordinator.WaitClosed; end++ {
		m.waits.WithLabelValues(end.String())
	}
	for reason := coordinator.LossUnknown; reason <= coordinator.LossClosed; reason++ {
		m.losses.WithLabelValues(reason.String())
	}
	m.holds.WithLabelValues(released)
	m.holds.WithLabelValues(lost)
	return m
}

// How a hold ends, as a label.
const (
	released = "released"
	lost     = "lost"
)

// durations go from half a millisecond to about 36 hours: a TTL is 24 at most.
var durations = prometheus.ExponentialBuckets(0.0005, 3, 18)

// shares end at 0.9, which is all that a window ever is of its TTL.
var shares = prometheus.LinearBuckets(0.1, 0.1, 9)

func histogram(name, help string, buckets []float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets})
}

func vector(name, help string, buckets []float64, label string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}, []string{label})
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help})
}

// Refused counts err if it is a guard's refusal of a stale token, and returns it
// as it is:
//
//	return m.Refused(guard.Accept(resource, lease.Token()))
func (m *Metrics) Refused(err error) error {
	if errors.Is(err, token.ErrStale) {
		m.staleWrites.Inc()
	}
	return err
}

// Observe implements coordinator.Observer.
func (m *Metrics) Observe(e coordinator.Event) {
	switch e := e.(type) {
	case *coordinator.Transition:
		m.transition(e)
	case *coordinator.Overrun:
		m.overruns.Inc()
		m.overrunTimes.Observe(e.After.Seconds())
	case *coordinator.Committed:
		m.commits.Observe(e.Took.Seconds())
		m.applies.Observe(e.Applying.Seconds())
		m.sizes.Observe(float64(e.Bytes))
		m.retries.Add(float64(e.Attempts - 1))
	case *coordinator.Renewing:
		if e.Failing {
			m.renewFailures.Inc()
		}
	case *coordinator.Expired:
		m.expiries.Add(float64(e.Leases))
	case *coordinator.LeaderChanged:
		m.leaderChanges.Inc()
		if e.Term > m.terms[e.Group] {
			m.terms[e.Group] = e.Term
			m.elections.Inc()
		}
	case *coordinator.Dropped:
		m.dropped.Add(float64(e.Events))
	}
}

func (m *Metrics) transition(t *coordinator.Transition) {
	switch t.To {
	case coordinator.Active, coordinator.Failed:
		m.waits.WithLabelValues(t.Wait.String()).Observe(t.Took.Seconds())
	case coordinator.Releasing:
		m.holds.WithLabelValues(released).Observe(t.Took.Seconds())
		m.remaining.Observe(t.Remaining.Seconds() / t.TTL.Seconds())
	case coordinator.Lost:
		m.holds.WithLabelValues(lost).Observe(t.Took.Seconds())
		m.losses.WithLabelValues(t.Loss.String()).Inc()
	case coordinator.Released:
		m.releases.Observe(t.Took.Seconds())
	}
}

// parts are all that a Metrics counts itself.
func (m *Metrics) parts() []prometheus.Collector {
	return []prometheus.Collector{
		m.waits, m.holds, m.releases, m.remaining, m.overrunTimes, m.commits, m.applies, m.sizes, m.delays, m.losses, m.overruns,
		m.expiries, m.renewFailures, m.staleWrites, m.retries, m.leaderChanges, m.elections, m.dropped,
	}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, part := range m.parts() {
		part.Describe(to)
	}
	for _, d := range statusDescs {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	for _, part := range m.parts() {
		part.Collect(to)
	}
	if s := m.watched.Load(); s != nil {
		s.collect(to)
	}
}
