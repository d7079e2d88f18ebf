package fencetest

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/palisade-go/palisade/token"
)

// effect is what a call of a guard came to.
type effect string

const (
	written  effect = "written"
	repeated effect = "repeated" // the first receipt again, nothing written
	accepted effect = "accepted" // by Accept
	stale    effect = "stale"    // with a *token.StaleError
	unnamed  effect = "stale without a *token.StaleError"
	invalid  effect = "invalid"
	ended    effect = "ended by its context"
	failed   effect = "failed"
	unknown  effect = "unknown"
)

// outcome is an effect with what the guard says of it.
type outcome struct {
	effect  effect
	receipt token.Receipt    // if written or repeated
	refusal token.StaleError // if stale
}

func (o outcome) equal(other outcome) bool {
	return o.effect == other.effect && sameReceipt(o.receipt, other.receipt) && o.refusal == other.refusal
}

// sameReceipt leaves Repeated out: the effect is written or repeated by it.
func sameReceipt(a, b token.Receipt) bool {
	return a.Token == b.Token && bytes.Equal(a.Value, b.Value)
}

func (o outcome) String() string {
	switch o.effect {
	case written, repeated:
		return fmt.Sprintf("%s, with a receipt of token %s and value %q", o.effect, o.receipt.Token, o.receipt.Value)
	case stale:
		return fmt.Sprintf("%s, naming resource %q, given %s, highest %s",
			o.effect, o.refusal.Resource, o.refusal.Given, o.refusal.Highest)
	default:
		return string(o.effect)
	}
}

// seen is the outcome that a call had. What may or may not have happened comes
// first: nothing else that the error says is certain then.
func (c call) seen() outcome {
	var refusal *token.StaleError
	switch {
	case c.err == nil && c.verb == accept:
		return outcome{effect: accepted}
	case c.err == nil && c.receipt.Repeated:
		return outcome{effect: repeated, receipt: c.receipt}
	case c.err == nil:
		return outcome{effect: written, receipt: c.receipt}
	case errors.Is(c.err, token.ErrUnknown):
		return outcome{effect: unknown}
	case errors.Is(c.err, token.ErrStale) && errors.As(c.err, &refusal):
		return outcome{effect: stale, refusal: *refusal}
	case errors.Is(c.err, token.ErrStale):
		return outcome{effect: unnamed}
	case errors.Is(c.err, token.ErrInvalid):
		return outcome{effect: invalid}
	case c.finished != nil && errors.Is(c.err, c.finished):
		return outcome{effect: ended}
	default:
		return outcome{effect: failed}
	}
}
