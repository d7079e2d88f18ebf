package tracing

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/palisade-go/palisade/coordinator"
)

// scope is the name of the tracer.
const scope = "github.com/palisade-go/palisade/coordinator/tracing"

// Options say what is told. The zero value of a field means its default.
type Options struct {
	// NormalizeKey returns what is told instead of a key: "order/{id}" for
	// "order/4711", say. With it the text of errors is left out, which may have keys
	// in it. It is called by one goroutine. Default: keys are told as they are.
	NormalizeKey func(key string) string
}

// New returns an observer that makes spans with a tracer of provider. It keeps
// nothing between one event and the next.
func New(provider trace.TracerProvider, o Options) coordinator.TraceCarrier {
	return &observer{tracer: provider.Tracer(scope), options: o}
}

type observer struct {
	tracer  trace.Tracer
	options Options
}

// Trace implements coordinator.TraceCarrier.
func (o *observer) Trace(ctx context.Context) string { return parentOf(ctx) }

// Observe implements coordinator.Observer.
func (o *observer) Observe(e coordinator.Event) {
	switch e := e.(type) {
	case *coordinator.Transition:
		o.transition(e)
	case *coordinator.Overrun:
		o.span("palisade.overrun", &e.Subject, e.At, e.After, told{
			failed: "released after its loss", attributes: []attribute.KeyValue{lossOf(e.Loss)},
		})
	}
}

func (o *observer) transition(t *coordinator.Transition) {
	switch t.To {
	case coordinator.Active, coordinator.Failed:
		o.span("palisade.wait", &t.Subject, t.At, t.Took, told{
			failed: o.failureOf(t), links: linksOf(t),
			attributes: []attribute.KeyValue{endOf(t.Wait.String()), attribute.Bool("palisade.queued", t.From == coordinator.Queued)},
		})
	case coordinator.Releasing:
		o.span("palisade.hold", &t.Subject, t.At, t.Took, told{attributes: []attribute.KeyValue{endOf("released")}})
	case coordinator.Lost:
		o.span("palisade.hold", &t.Subject, t.At, t.Took, told{
			failed: o.failureOf(t), attributes: []attribute.KeyValue{endOf("lost"), lossOf(t.Loss)},
		})
	case coordinator.Released:
		o.span("palisade.release", &t.Subject, t.At, t.Took, told{})
	}
}

func endOf(how string) attribute.KeyValue { return attribute.String("palisade.end", how) }

func lossOf(reason coordinator.LossReason) attribute.KeyValue {
	return attribute.String("palisade.loss", reason.String())
}

// failureOf returns what to say of a transition that is an error, empty for one
// that is none.
func (o *observer) failureOf(t *coordinator.Transition) string {
	var what string
	switch t.To {
	case coordinator.Lost:
		if t.Loss == coordinator.LossClosed {
			return ""
		}
		what = "lost: " + t.Loss.String()
	case coordinator.Failed:
		switch t.Wait {
		case coordinator.WaitBusy, coordinator.WaitTimeout, coordinator.WaitCancelled, coordinator.WaitClosed:
			return ""
		}
		what = "failed: " + t.Wait.String()
	default:
		return ""
	}
	if t.Err != nil && o.options.NormalizeKey == nil {
		return valid(t.Err.Error())
	}
	return what
}

// linksOf returns links to those whom a request has waited for, or has met.
func linksOf(t *coordinator.Transition) (links []trace.Link) {
	holders := t.Behind
	var busy *coordinator.BusyError
	if errors.As(t.Err, &busy) {
		holders = busy.Holders
	}
	for _, h := range holders {
		if c, ok := parseParent(h.Trace); ok {
			links = append(links, trace.Link{SpanContext: c, Attributes: []attribute.KeyValue{
				attribute.Int64("palisade.node", int64(h.Node)), attribute.String("palisade.token", h.Token.String()),
			}})
		}
	}
	return links
}

// told is what differs from span to span.
type told struct {
	failed     string // empty: it is no error
	links      []trace.Link
	attributes []attribute.KeyValue
}

// span makes a span that ended at an instant and took some time.
func (o *observer) span(name string, s *coordinator.Subject, end time.Time, took time.Duration, told told) {
	_, span := o.tracer.Start(s.Context, name,
		trace.WithTimestamp(end.Add(-took)), trace.WithLinks(told.links...), trace.WithAttributes(told.attributes...))
	if span.IsRecording() {
		span.SetAttributes(o.subject(s)...)
	}
	if told.failed != "" {
		span.SetStatus(codes.Error, told.failed)
	}
	span.End(trace.WithTimestamp(end))
}

// valid makes UTF-8 of any bytes: one text that is none makes exporters reject all
// that they would send with it.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// subject describes a request.
func (o *observer) subject(s *coordinator.Subject) []attribute.KeyValue {
	key := s.Keys[0]
	if o.options.NormalizeKey != nil {
		key = o.options.NormalizeKey(key)
	}
	attributes := []attribute.KeyValue{
		attribute.String("palisade.key", valid(key)),
		attribute.Int64("palisade.request", int64(s.Request)),
		attribute.Int("palisade.group", s.Group),
		attribute.Float64("palisade.ttl", s.TTL.Seconds()),
	}
	if len(s.Keys) > 1 {
		attributes = append(attributes, attribute.Int("palisade.keys", len(s.Keys)))
	}
	if s.RequestID != "" {
		attributes = append(attributes, attribute.String("palisade.request_id", valid(s.RequestID)))
	}
	if s.Token != 0 {
		attributes = append(attributes, attribute.String("palisade.token", s.Token.String()))
	}
	return attributes
}
