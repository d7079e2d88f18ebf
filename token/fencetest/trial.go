package fencetest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/palisade-go/palisade/token"
)

// reporter is what a trial needs of a *testing.T. The suite's own tests have
// another one, to see which rules a broken guard fails.
type reporter interface {
	Helper()
	Logf(format string, args ...any)
	Fatalf(format string, args ...any) // does not return
}

// trial is one guard under one rule. What its methods do it compares with the
// reference, step by step. They fail the test, and so are for its goroutine.
type trial struct {
	reporter
	ctx    context.Context
	guard  Guard
	reopen func(Guard) Guard // nil: Traits.Reopen is
	traits Traits
	steps  int
	seed   uint64
	// seeded says that the seed decided what the trial did.
	seeded bool

	model *reference
	calls []call       // so far, in the order of their ends
	clock atomic.Int64 // counts begins and ends of calls
}

// on makes a write for one resource.
func on(resource string, t token.Token, op token.Operation) token.Write {
	return token.Write{Resource: resource, Token: t, Operation: op}
}

// append makes a guarded write of a new entry, which has to come to want.
func (t *trial) append(w token.Write, want effect) token.Receipt {
	t.Helper()
	return t.step(call{verb: appendAny, write: w, entry: t.newEntry()}, want)
}

// appendOnce is append with AppendOnce.
func (t *trial) appendOnce(w token.Write, want effect) token.Receipt {
	t.Helper()
	return t.step(call{verb: appendOnce, write: w, entry: t.newEntry()}, want)
}

// fail makes a guarded write whose write function fails once it was called.
func (t *trial) fail(v verb, w token.Write, want effect) {
	t.Helper()
	t.step(call{verb: v, write: w, entry: "fail " + t.newEntry()}, want)
}

// accept raises the fence without a write.
func (t *trial) accept(w token.Write, want effect) {
	t.Helper()
	t.step(call{verb: accept, write: w}, want)
}

// newEntry returns an entry that the trial has not used yet.
func (t *trial) newEntry() string { return fmt.Sprintf("entry %d", len(t.calls)+1) }

// newEntryFor is newEntry for the methods that take one.
func (t *trial) newEntryFor(v verb) string {
	if v == accept {
		return ""
	}
	return t.newEntry()
}

// step makes a call that a rule expects to come to want. That the reference
// expects the same is a check of the suite, not of the guard.
func (t *trial) step(c call, want effect) token.Receipt {
	t.Helper()
	if expected, _ := t.model.judge(c); expected.effect != want {
		panic(fmt.Sprintf("fencetest: the rule expects %s of %v, and the reference %s", want, c, expected.effect))
	}
	return t.compare(c).receipt
}

// compare makes a call and compares outcome, list and fence with those of the
// reference.
func (t *trial) compare(c call) call {
	t.Helper()
	expected, because := t.model.judge(c)
	c = t.call(c)
	if !t.model.agrees(c, expected) {
		t.stop(c.write.Resource, "%v\nexpected: %s\nby: %s", c, expected, because)
	}
	left := false
	if expected.effect == failed && t.traits.KeepsFenceOfFailedWrite {
		_, left = t.model.shelf(c.write.Resource).leaves(t.entries(c.write.Resource), c.entry)
	}
	t.model.keep(c, expected, left)
	if expected.effect == invalid {
		t.same() // the resource may be none
	} else {
		t.sameAt(c.write.Resource)
	}
	return c
}

// call makes a call, with a finished context if it says so.
func (t *trial) call(c call) call {
	ctx := t.ctx
	switch c.finished {
	case context.Canceled:
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		cancel()
	case context.DeadlineExceeded:
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 0)
		defer cancel()
	}
	c.began = t.clock.Add(1)
	c = c.run(ctx, t.guard)
	c.ended = t.clock.Add(1)
	kept := c
	kept.receipt.Value = bytes.Clone(c.receipt.Value) // a rule may write over its own
	t.calls = append(t.calls, kept)
	return c
}

// same compares lists and fences of all resources that were written to with
// the reference.
func (t *trial) same() {
	t.Helper()
	for _, resource := range sortedKeys(t.model.shelves) {
		t.sameAt(resource)
	}
}

// sameAt compares list and fence of one resource with the reference.
func (t *trial) sameAt(resource string) {
	t.Helper()
	want := t.model.shelf(resource)
	if got := t.entries(resource); !slices.Equal(got, want.entries) {
		t.stop(resource, "the list of resource %s is %q\nexpected: %q", clip(resource), got, want.entries)
	}
	if got := t.highest(resource); got != want.highest {
		t.stop(resource, "the greatest token accepted for resource %s is %s\nexpected: %s\n"+
			"by: rules 4, 6 and 8 of package token, which say when it is raised", clip(resource), got, want.highest)
	}
}

func (t *trial) entries(resource string) []string {
	t.Helper()
	entries, err := t.guard.Entries(t.ctx, resource)
	if err != nil {
		t.stop(resource, "Entries(%s): %v", clip(resource), err)
	}
	return entries
}

func (t *trial) highest(resource string) token.Token {
	t.Helper()
	highest, err := t.guard.Highest(t.ctx, resource)
	if err != nil {
		t.stop(resource, "Highest(%s): %v", clip(resource), err)
	}
	return highest
}

// restart closes the guard and opens the same data.
func (t *trial) restart() {
	t.Helper()
	t.guard = t.reopen(t.guard)
	if t.guard == nil {
		t.stop("", "Traits.Reopen returned no guard")
	}
}

// stop fails the test, with the calls at a resource so far.
func (t *trial) stop(resource, format string, args ...any) {
	t.Helper()
	text := fmt.Sprintf(format, args...)
	if t.seeded {
		text += fmt.Sprintf("\nto draw the same again: Traits.Seed = %d, Traits.Steps = %d", t.seed, t.steps)
	}
	t.Fatalf("fencetest: %s\n%s", text, t.story(resource))
}

// forget drops what the trial remembers of the resources so far: they are not
// written to again.
func (t *trial) forget() {
	t.calls = nil
	t.model = newReference(t.traits)
}

// story tells the calls at a resource so far, or the last of them.
func (t *trial) story(resource string) string {
	const callsMax = 40
	var at []call
	for _, c := range t.calls {
		if resource == "" || c.write.Resource == resource {
			at = append(at, c)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "calls at the resource so far: %d", len(at))
	if skipped := len(at) - callsMax; skipped > 0 {
		fmt.Fprintf(&b, ", without the first %d", skipped)
		at = at[skipped:]
	}
	for _, c := range at {
		fmt.Fprintf(&b, "\n  %d-%d %v", c.began, c.ended, c)
	}
	return b.String()
}

func sortedKeys(shelves map[string]*shelf) []string {
	keys := make([]string, 0, len(shelves))
	for key := range shelves {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
