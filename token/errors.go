package token

import (
	"errors"
	"fmt"
)

var (
	// ErrInvalid says that something is not a token, or not one that the
	// operation takes, or that another argument is not allowed.
	ErrInvalid = errors.New("token: invalid")
	// ErrStale says that a guard has accepted a greater token before. It is
	// found in every *StaleError.
	ErrStale = errors.New("token: stale")
	// ErrUnknown says that a write may have taken effect and may not: its answer
	// was lost. Presenting the same operation again tells, and does it if it was
	// not done. Without an operation id only the resource can tell.
	ErrUnknown = errors.New("token: outcome unknown")
	// ErrExhausted says that the bits of a token have no greater counter or
	// epoch.
	ErrExhausted = errors.New("token: exhausted")
)

// StaleError is a guard's refusal. The write that it refuses was not begun.
type StaleError struct {
	Resource string
	Given    Token // what the writer came with
	// Highest is the greatest token accepted so far. It equals Given only
	// when a token that allows one write came for a second one.
	Highest Token
}

// Error names the resource and both tokens.
func (e *StaleError) Error() string {
	if e.Given == e.Highest {
		return fmt.Sprintf("%v: resource %s has accepted token %s already, now it takes only one greater than %s",
			ErrStale, clip(e.Resource), e.Given, e.Highest)
	}
	return fmt.Sprintf("%v: resource %s refuses token %s, it has accepted %s",
		ErrStale, clip(e.Resource), e.Given, e.Highest)
}

// Unwrap lets errors.Is find ErrStale.
func (e *StaleError) Unwrap() error { return ErrStale }

// clip quotes text from outside for an error and keeps it short: a header or
// a resource name can be of any length.
func clip(s string) string {
	const bytesMax = 64
	if len(s) > bytesMax {
		return fmt.Sprintf("%q... (%d bytes)", s[:bytesMax], len(s))
	}
	return fmt.Sprintf("%q", s)
}
