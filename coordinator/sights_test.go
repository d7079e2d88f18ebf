package coordinator_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/logs"
	"github.com/palisade-go/palisade/coordinator/metrics"
	"github.com/palisade-go/palisade/coordinator/tracing"
	"github.com/palisade-go/palisade/internal/saidtest"
)

// sights are the observers that come with the library, and what they have made of
// what they were told.
type sights struct {
	observers []coordinator.Observer
	lines     saidtest.Log
	registry  *prometheus.Registry
	spans     *tracetest.SpanRecorder
}

func newSights() *sights {
	s := &sights{registry: prometheus.NewPedanticRegistry(), spans: tracetest.NewSpanRecorder()}
	m := metrics.New()
	s.registry.MustRegister(m)
	logger := slog.New(slog.NewTextHandler(&s.lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(s.spans))
	s.observers = []coordinator.Observer{logs.New(logger, logs.Options{}), m, tracing.New(provider, tracing.Options{})}
	return s
}

func (s *sights) Observe(e coordinator.Event) {
	for _, o := range s.observers {
		o.Observe(e)
	}
}

// count returns what a histogram has counted under a label.
func (s *sights) count(t testing.TB, name, label string) (count int) {
	t.Helper()
	families, err := s.registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name && m.GetLabel()[0].GetValue() == label {
				count += int(m.GetHistogram().GetSampleCount() + uint64(m.GetCounter().GetValue()))
			}
		}
	}
	return count
}

// requireShown requires that a line, a count and a span tell of the end of a wait
// or a hold.
func (w *watcher) requireShown(t testing.TB, e *coordinator.Transition) {
	t.Helper()
	w.mu.Lock() // so that the counts are of the same events
	defer w.mu.Unlock()
	span, inLine := "palisade.hold", ""
	var attributes []attribute.KeyValue
	switch e.To {
	case coordinator.Active, coordinator.Failed:
		span = "palisade.wait"
		attributes = append(attributes, attribute.String("palisade.end", e.Wait.String()))
		require.Equal(t, w.countLocked(func(o *coordinator.Transition) bool {
			return (o.To == coordinator.Active || o.To == coordinator.Failed) && o.Wait == e.Wait
		}), w.sights.count(t, "palisade_wait_seconds", e.Wait.String()))
		if e.To == coordinator.Failed {
			inLine = textAttribute("wait", e.Wait.String())
		}
	case coordinator.Releasing:
		attributes = append(attributes, attribute.String("palisade.end", "released"))
		require.Equal(t, w.countLocked(func(o *coordinator.Transition) bool { return o.To == e.To }),
			w.sights.count(t, "palisade_hold_seconds", "released"))
	case coordinator.Lost:
		attributes = append(attributes, attribute.String("palisade.end", "lost"), attribute.String("palisade.loss", e.Loss.String()))
		require.Equal(t, w.countLocked(func(o *coordinator.Transition) bool { return o.To == e.To && o.Loss == e.Loss }),
			w.sights.count(t, "palisade_losses_total", e.Loss.String()))
		inLine = textAttribute("loss", e.Loss.String())
	}
	w.requireLineLocked(t, e, inLine)
	attributes = append(attributes,
		attribute.Int64("palisade.request", int64(e.Request)), attribute.String("palisade.key", e.Keys[0]))
	for _, s := range w.sights.spans.Ended() {
		if s.Name() == span && len(e.Keys) == 1 && containsAll(s.Attributes(), attributes) {
			return
		}
	}
	require.FailNow(t, "no span", "%s %v", span, attributes)
}

// requireLineLocked requires one line that tells of a transition.
func (w *watcher) requireLineLocked(t testing.TB, e *coordinator.Transition, inLine string) {
	t.Helper()
	found := 0
	for _, line := range strings.Split(w.sights.lines.String(), "\n") {
		if strings.Contains(line, fmt.Sprintf("request=%d ", e.Request)) &&
			strings.Contains(line, fmt.Sprintf(" from=%s to=%s ", e.From, e.To)) && strings.Contains(line, inLine) {
			found++
		}
	}
	require.Equal(t, 1, found, "lines with %s of %+v in:\n%s", inLine, e, w.sights.lines.String())
}

// textAttribute is an attribute as slog's text handler writes it.
func textAttribute(name, value string) string {
	if strings.Contains(value, " ") {
		value = fmt.Sprintf("%q", value)
	}
	return " " + name + "=" + value + " "
}

// countLocked returns how many transitions were told that are like it.
func (w *watcher) countLocked(like func(*coordinator.Transition) bool) (count int) {
	for _, e := range w.events {
		if e, ok := e.(*coordinator.Transition); ok && like(e) {
			count++
		}
	}
	return count
}

func containsAll(all, some []attribute.KeyValue) bool {
	set := attribute.NewSet(all...)
	for _, a := range some {
		if value, ok := set.Value(a.Key); !ok || value != a.Value {
			return false
		}
	}
	return true
}

// What can't be brought about from outside is told by hand.
func TestEndsThatAreRareAreLoggedCountedAndTraced(t *testing.T) {
	t.Parallel()
	w := &watcher{sights: newSights()}
	subject := coordinator.Subject{Request: 1, Keys: []string{"key"}, TTL: long, Context: patient(t)}
	for _, end := range []coordinator.WaitEnd{coordinator.WaitOther, coordinator.WaitLost} {
		e := &coordinator.Transition{Subject: subject, From: coordinator.Queued, To: coordinator.Failed, Wait: end, Err: coordinator.ErrLeaseLost}
		w.Observe(e)
		w.requireShown(t, e)
		subject.Request++
	}
	e := &coordinator.Transition{Subject: subject, From: coordinator.Active, To: coordinator.Lost, Loss: coordinator.LossSwept, Err: coordinator.ErrLeaseLost}
	w.Observe(e)
	w.requireShown(t, e)
}
