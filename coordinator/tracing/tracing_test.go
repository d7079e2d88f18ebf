package tracing_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/coordinator/tracing"
	"github.com/palisade-go/palisade/token"
)

// newTracer returns where spans gather and an observer that makes them.
func newTracer(o tracing.Options) (*tracetest.SpanRecorder, *sdktrace.TracerProvider, coordinator.TraceCarrier) {
	spans := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	return spans, provider, tracing.New(provider, o)
}

// told is what a span says, without ids and times.
func told(s sdktrace.ReadOnlySpan) string {
	text := s.Name()
	for _, a := range s.Attributes() {
		text += fmt.Sprintf(" %s=%s", a.Key, a.Value.Emit())
	}
	if s.Status().Code == codes.Error {
		text += " error: " + s.Status().Description
	}
	return text
}

var subject = coordinator.Subject{
	Request: 7, Keys: []string{"order/4711", "stock/1"}, RequestID: "id", TTL: time.Minute, Group: 3, Token: token.Token(42),
	Context: context.Background(),
}

func TestSpans(t *testing.T) {
	const about = " palisade.key=order/4711 palisade.request=7 palisade.group=3 palisade.ttl=60 palisade.keys=2" +
		" palisade.request_id=id palisade.token=42"
	cause := errors.New("cause")
	for _, test := range []struct {
		event coordinator.Event
		want  string
	}{
		{&coordinator.Transition{Subject: subject, From: coordinator.Asked, To: coordinator.Queued, Took: time.Second}, ""},
		{
			&coordinator.Transition{Subject: subject, From: coordinator.Queued, To: coordinator.Active, Took: time.Second, Wait: coordinator.WaitAcquired},
			"palisade.wait palisade.end=acquired palisade.queued=true" + about,
		}, {
			&coordinator.Transition{Subject: subject, From: coordinator.Active, To: coordinator.Releasing, Took: time.Second},
			"palisade.hold palisade.end=released" + about,
		}, {
			&coordinator.Transition{Subject: subject, From: coordinator.Releasing, To: coordinator.Released, Took: time.Second},
			"palisade.release" + about,
		}, {
			&coordinator.Transition{Subject: subject, From: coordinator.Active, To: coordinator.Lost, Took: time.Second, Loss: coordinator.LossWindow, Err: cause},
			"palisade.hold palisade.end=lost palisade.loss=window" + about + " error: cause",
		}, {
			&coordinator.Transition{Subject: subject, From: coordinator.Active, To: coordinator.Lost, Took: time.Second, Loss: coordinator.LossClosed, Err: cause},
			"palisade.hold palisade.end=lost palisade.loss=closed" + about,
		}, {
			&coordinator.Overrun{Subject: subject, After: time.Second, Loss: coordinator.LossExpired},
			"palisade.overrun palisade.loss=expired" + about + " error: released after its loss",
		},
		{&coordinator.Committed{Group: 3, Bytes: 100, Took: time.Second, Attempts: 1}, ""},
		{&coordinator.Renewing{Group: 3, Failing: true}, ""},
		{&coordinator.Dropped{Events: 5}, ""},
	} {
		at := time.Now()
		switch e := test.event.(type) {
		case *coordinator.Transition:
			e.At = at
		case *coordinator.Overrun:
			e.At = at
		}
		spans, _, o := newTracer(tracing.Options{})
		o.Observe(test.event)
		if test.want == "" {
			require.Empty(t, spans.Ended(), "%+v", test.event)
			continue
		}
		require.Len(t, spans.Ended(), 1)
		span := spans.Ended()[0]
		require.Equal(t, test.want, told(span))
		require.Equal(t, []time.Time{at.Add(-time.Second), at}, []time.Time{span.StartTime(), span.EndTime()})
		require.False(t, span.Parent().IsValid())
	}
}

func TestSpansOfWaitsThatFail(t *testing.T) {
	for end, isError := range map[coordinator.WaitEnd]bool{
		coordinator.WaitBusy: false, coordinator.WaitTimeout: false, coordinator.WaitCancelled: false, coordinator.WaitClosed: false,
		coordinator.WaitQueueFull: true, coordinator.WaitUnavailable: true, coordinator.WaitLost: true, coordinator.WaitOther: true,
	} {
		spans, _, o := newTracer(tracing.Options{})
		o.Observe(&coordinator.Transition{
			Subject: coordinator.Subject{Request: 7, Keys: []string{"key\xff"}, TTL: time.Minute, Group: 3, Context: context.Background()},
			To:      coordinator.Failed, Wait: end, Err: errors.New("cause\xff"),
		})
		want := fmt.Sprintf("palisade.wait palisade.end=%s palisade.queued=false palisade.key=key\uFFFD palisade.request=7 palisade.group=3 palisade.ttl=60", end)
		if isError {
			want += " error: cause\uFFFD"
		}
		require.Equal(t, want, told(spans.Ended()[0]), "UTF-8, or an exporter refuses it")
	}
}

func TestNormalizeKeyKeepsKeysOutOfSpans(t *testing.T) {
	spans, _, o := newTracer(tracing.Options{NormalizeKey: func(string) string { return "order/{id}" }})
	for _, e := range []coordinator.Event{
		&coordinator.Transition{Subject: subject, To: coordinator.Failed, Wait: coordinator.WaitOther, Err: errors.New("order/4711 is odd")},
		&coordinator.Transition{Subject: subject, To: coordinator.Lost, Loss: coordinator.LossSwept, Err: errors.New("order/4711 is lost")},
		&coordinator.Overrun{Subject: subject},
	} {
		o.Observe(e)
	}
	require.Len(t, spans.Ended(), 3)
	for _, s := range spans.Ended() {
		require.Contains(t, told(s), "palisade.key=order/{id}")
		require.NotContains(t, told(s), "4711")
	}
}

func TestAWaitIsLinkedToItsHolderOnAnotherNode(t *testing.T) {
	spans, provider, o := newTracer(tracing.Options{})
	c := locktest.New(t, 3, locktest.WithConfig(func(_ int, cfg *coordinator.Config) {
		cfg.TTL, cfg.Observers = time.Hour, []coordinator.Observer{o}
	}))
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	in := func(name string) (context.Context, trace.SpanContext) {
		ctx, span := provider.Tracer("test").Start(ctx, name)
		span.End()
		return ctx, span.SpanContext()
	}

	holding, holder := in("holder")
	lease, err := c.Node(1).Coordinator().Acquire(holding, "key", coordinator.WithMetadata("kept"))
	require.NoError(t, err)
	waiting, waiter := in("waiter")
	turn := make(chan *coordinator.Lease, 1)
	go func() {
		next, _ := c.Node(2).Coordinator().Acquire(waiting, "key")
		turn <- next
	}()
	require.NoError(t, c.Await(ctx, "the waiter", func() bool {
		info, err := c.Node(3).Coordinator().Inspect(ctx, "key")
		return err == nil && len(info.Waiters) == 1
	}))
	trying, tryer := in("try")
	_, err = c.Node(3).Coordinator().TryAcquire(trying, "key")
	var busy *coordinator.BusyError
	require.ErrorAs(t, err, &busy)
	require.Equal(t, "kept", busy.Holders[0].Metadata)

	require.NoError(t, lease.Release(ctx))
	next := <-turn
	require.NotNil(t, next)
	require.NoError(t, next.Release(ctx))

	// That of each caller, three waits, two holds, two releases.
	require.NoError(t, c.Await(ctx, "all spans", func() bool { return len(spans.Ended()) == 3+3+2+2 }))
	links := map[trace.SpanID][]sdktrace.Link{} // of waits, by parent
	for _, s := range spans.Ended() {
		if s.Name() == "palisade.wait" {
			links[s.Parent().SpanID()] = s.Links()
		}
	}
	require.Contains(t, links, holder.SpanID())
	require.Empty(t, links[holder.SpanID()])
	for _, who := range []trace.SpanContext{waiter, tryer} {
		require.Len(t, links[who.SpanID()], 1)
		link := links[who.SpanID()][0]
		require.Equal(t, holder.TraceID(), link.SpanContext.TraceID())
		require.Equal(t, holder.SpanID(), link.SpanContext.SpanID())
		require.Contains(t, link.Attributes, attribute.String("palisade.token", lease.Token().String()))
		require.Contains(t, link.Attributes, attribute.Int64("palisade.node", 1))
	}
}
