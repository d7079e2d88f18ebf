package fencetest

import (
	"context"
	"fmt"
	"strings"

	"github.com/palisade-go/palisade/token"
)

// verb is the method of a Guard with which a call is made.
type verb string

const (
	appendAny  verb = "Append"
	appendOnce verb = "AppendOnce"
	accept     verb = "Accept"
)

// verbs are all that take a token.Write.
var verbs = []verb{appendAny, appendOnce, accept}

// call is one call of a guard, and what came of it.
type call struct {
	verb  verb
	write token.Write
	entry string // none for Accept

	// finished is the error of the context with which the call was made, if
	// that had ended before.
	finished error

	receipt token.Receipt
	err     error

	// began and ended count the begins and ends of all calls of a trial: one
	// that ended before another began was before it.
	began, ended int64
}

// run makes the call.
func (c call) run(ctx context.Context, g Guard) call {
	switch c.verb {
	case appendAny:
		c.receipt, c.err = g.Append(ctx, c.write, c.entry)
	case appendOnce:
		c.receipt, c.err = g.AppendOnce(ctx, c.write, c.entry)
	case accept:
		c.err = g.Accept(ctx, c.write)
	}
	return c
}

// fails says whether the write function is to return an error.
func (c call) fails() bool { return strings.HasPrefix(c.entry, "fail") }

func (c call) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s(%s, token %s", c.verb, clip(c.write.Resource), c.write.Token)
	if c.write.Operation != "" {
		fmt.Fprintf(&b, ", operation %s", clip(string(c.write.Operation)))
	}
	if c.entry != "" {
		fmt.Fprintf(&b, ", entry %s", clip(c.entry))
	}
	if c.finished != nil {
		fmt.Fprintf(&b, ", with a context that has ended: %v", c.finished)
	}
	seen := c.seen()
	fmt.Fprintf(&b, ") = %s", seen)
	if c.err != nil && seen.effect != stale { // of which the outcome says all
		fmt.Fprintf(&b, ": %v", c.err)
	}
	return b.String()
}

// clip quotes a name and keeps it short: some that the suite uses are as long
// as names may be.
func clip(name string) string {
	const bytesMax = 48
	if len(name) > bytesMax {
		return fmt.Sprintf("%q... (%d bytes)", name[:bytesMax], len(name))
	}
	return fmt.Sprintf("%q", name)
}
