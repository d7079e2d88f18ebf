package tracing

import (
	"context"
	"encoding/hex"
	"strings"

	"go.opentelemetry.io/otel/trace"
)

// parentOf returns the span context that ctx is in as a traceparent of the W3C
// (https://www.w3.org/TR/trace-context-1/#traceparent-header), empty if it is in
// none.
func parentOf(ctx context.Context) string {
	c := trace.SpanContextFromContext(ctx)
	if !c.IsValid() {
		return ""
	}
	return "00-" + c.TraceID().String() + "-" + c.SpanID().String() + "-" + c.TraceFlags().String()
}

// parseParent undoes parentOf. It returns false for what is no traceparent of
// version 0, the only one there is.
func parseParent(s string) (trace.SpanContext, bool) {
	parts := strings.Split(s, "-")
	if len(parts) != 4 || parts[0] != "00" {
		return trace.SpanContext{}, false
	}
	id, idErr := trace.TraceIDFromHex(parts[1])
	span, spanErr := trace.SpanIDFromHex(parts[2])
	flags, flagsErr := hex.DecodeString(parts[3])
	if idErr != nil || spanErr != nil || flagsErr != nil || len(flags) != 1 {
		return trace.SpanContext{}, false
	}
	c := trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: id, SpanID: span, TraceFlags: trace.TraceFlags(flags[0]), Remote: true,
	})
	return c, c.IsValid()
}
