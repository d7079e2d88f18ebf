package httpfence

import (
	"context"
	"fmt"
	"sync/atomic"
)

// Outcome says what is known of a request's effect.
type Outcome uint8

// The outcomes. The zero value is the one that promises nothing.
const (
	// Unknown: it may have taken effect, and may not.
	Unknown Outcome = iota
	// NotApplied: nothing took effect.
	NotApplied
	// Applied: it took effect. For a handler that answered with a failure it
	// means that the failure is the answer to give again.
	Applied
)

// outcomeNames are part of the problem documents; they never change.
var outcomeNames = [...]string{Unknown: "unknown", NotApplied: "not applied", Applied: "applied"}

// String returns the name of the outcome.
func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return fmt.Sprintf("Outcome(%d)", uint8(o))
}

// MarshalText returns the name.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads a name. One that it does not know is Unknown: a later
// version may have found a finer word for it.
func (o *Outcome) UnmarshalText(text []byte) error {
	*o = Unknown
	for known, name := range outcomeNames {
		if string(text) == name {
			*o = Outcome(known)
		}
	}
	return nil
}

// Mark lets a guarded handler say what became of its request, in place of
// Config.Outcome. NotApplied lets the same operation be tried again, Unknown
// keeps it from ever being run again by itself, Applied keeps the answer. The
// last call before the handler returns counts. ctx is the context of the
// handler's request; with any other, and in a request without an operation
// id, Mark does nothing. It may be called from several goroutines.
func Mark(ctx context.Context, outcome Outcome) {
	if m, ok := ctx.Value(markKey{}).(*mark); ok {
		m.set.Store(int32(outcome) + 1)
	}
}

type markKey struct{}

// mark is what the handler has said.
type mark struct {
	set atomic.Int32 // the Outcome plus one; zero: nothing was said
}

// said returns what the handler has said, and whether it did.
func (m *mark) said() (Outcome, bool) {
	v := m.set.Load()
	return Outcome(v - 1), v > 0
}
