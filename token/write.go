package token

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// ResourceBytesMax is the length of the longest name of a resource.
	ResourceBytesMax = 512
	// OperationBytesMax is the length of the longest operation id.
	OperationBytesMax = 255
)

// Operation is an operation id: it names one thing to be done to a resource,
// whoever does it and however often it is tried. Choose it from the work, as
// "invoices of 2026-11", not from the attempt; then the next owner's attempt
// is known as the same operation too. The same id for two different things
// makes a guard take the second for done.
type Operation string

// Write is what a writer presents to a guard that outlives the process. Each
// guard says with which of its methods.
type Write struct {
	// Resource names what is written: 1..ResourceBytesMax bytes of UTF-8 with
	// no zero byte. It belongs to one lock key, for ever: tokens of different
	// lock keys do not compare.
	Resource string
	// Token is the token of the lease under which the write is made.
	Token Token
	// Operation makes the guard do this once: at most OperationBytesMax bytes
	// of UTF-8 with no zero byte. Empty means that the guard only looks at the
	// token.
	Operation Operation
}

// Check returns nil for a write that a guard can decide about, and otherwise
// ErrInvalid with what is wrong.
func (w Write) Check() error {
	if w.Resource == "" {
		return fmt.Errorf("%w: the resource has no name", ErrInvalid)
	}
	if err := checkName("name of the resource", w.Resource, ResourceBytesMax); err != nil {
		return err
	}
	if err := w.Token.check(); err != nil {
		return fmt.Errorf("%w (for resource %s)", err, clip(w.Resource))
	}
	return checkName("operation id", string(w.Operation), OperationBytesMax)
}

// Judge returns nil if w may follow the greatest token accepted before, zero
// if none was: its token is that one or greater. Otherwise it returns a
// *StaleError.
//
// It is the rule of every guard, and no guard by itself: what it is given has
// to be read, and the token kept, in one step with the write.
func (w Write) Judge(highest Token) error { return w.judge(atLeast, highest) }

// JudgeOnce is Judge for leases that allow one write each: it refuses a token
// that equals the greatest accepted as well.
func (w Write) JudgeOnce(highest Token) error { return w.judge(greater, highest) }

func (w Write) judge(allowed rule, highest Token) error {
	if !allowed(w.Token, highest) {
		return &StaleError{Resource: w.Resource, Given: w.Token, Highest: highest}
	}
	return nil
}

// checkName refuses what some store could not keep as it is: PostgreSQL has no
// text with a zero byte or with bytes that are not UTF-8.
func checkName(what, name string, bytesMax int) error {
	switch {
	case len(name) > bytesMax:
		return fmt.Errorf("%w: %s %s is longer than %d bytes", ErrInvalid, what, clip(name), bytesMax)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w: %s %s is not UTF-8", ErrInvalid, what, clip(name))
	case strings.IndexByte(name, 0) >= 0:
		return fmt.Errorf("%w: %s %s has a zero byte", ErrInvalid, what, clip(name))
	}
	return nil
}
