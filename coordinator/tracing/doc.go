// Package tracing makes spans of OpenTelemetry from what happens to the requests
// and leases of a node. It uses the API alone; which SDK there is, if any, is the
// program's business.
//
//	cfg.Observers = append(cfg.Observers, tracing.New(otel.GetTracerProvider(), tracing.Options{}))
//
// # Spans
//
//	palisade.wait     from the call of an acquire to its answer
//	palisade.hold     from there to the release, or to the loss
//	palisade.release  from the release to its confirmation
//	palisade.overrun  from a loss to the release that came after it
//
// All are children of the span that the acquire's context was in, and roots if it
// was in none. They are made when they end, by the goroutine that serves this
// observer: whatever a tracer does, no acquire waits for it, and what it can't
// keep up with is missing (coordinator.Dropped).
//
// # Links
//
// A wait in line is linked to those who held its keys when it was queued, and a
// try that failed to those who held them then: to the spans that the holders were
// in when they acquired, on whichever node. What names them travels with the
// lease, as a W3C traceparent of 55 bytes; see coordinator.TraceCarrier. All nodes
// have to trace for that; a holder whose acquire was in no span has no link.
//
// # Attributes and status
//
// palisade.key, palisade.keys (how many, if several), palisade.request,
// palisade.request_id, palisade.token (in decimal), palisade.group,
// palisade.ttl (seconds); of a wait palisade.queued and palisade.end (how it
// ended); of a hold palisade.end (released or lost); of a loss palisade.loss. A
// lease's metadata is not among them.
//
// The status is Error for what logs writes as a warning: a lease was lost, a lost
// one was released only then, a group did not answer, a queue was full. A try that
// finds a key taken, and a wait that its caller has ended, are no errors.
package tracing
