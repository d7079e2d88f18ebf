package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// The most that an error shows of an order, and of what could not follow it.
const (
	shownBefore = 10
	shownAfter  = 5
)

// problem says how far the operations could be put in order. It searches again,
// as a search that remembers its way is much slower.
func (p part) problem(result porcupine.CheckResult, timeout time.Duration) error {
	kind := ErrViolation
	if result == porcupine.Unknown {
		kind = fmt.Errorf("%w after %v", ErrUndecided, timeout)
	}
	_, info := p.search(timeout, true)
	order := p.furthest(info.PartialLinearizations()[0])
	if order == nil && result == porcupine.Unknown {
		return fmt.Errorf("%w: %s %q: %d operations", kind, p.what, p.about, len(p.records))
	}
	return fmt.Errorf("%w: %s %q: %s\nVisualize draws all of it", kind, p.what, p.about, p.impasse(order))
}

// furthest returns the order that leaves out nothing for the longest time, and
// of several the longest, and the first by the numbers of its operations. The
// longest of all would not do: one more request of those that wait in line fits
// well before the fault, and stops the order there.
func (p part) furthest(orders [][]int) []int {
	return slices.MaxFunc(append(orders, nil), func(a, b []int) int {
		return cmp.Or(cmp.Compare(p.reach(a), p.reach(b)), cmp.Compare(len(a), len(b)), slices.Compare(b, a))
	})
}

// reach is when the first operation returned that an order leaves out.
func (p part) reach(order []int) Instant {
	returned, placed := Never, make([]bool, len(p.records))
	for _, n := range order {
		placed[n] = true
	}
	for n, r := range p.records {
		if !placed[n] {
			returned = min(returned, r.Return)
		}
	}
	return returned
}

// impasse tells the end of an order that can't be continued, and why it can't.
func (p part) impasse(order []int) string {
	state, left := p.model.Init(), slices.Clone(p.records)
	var before []Record
	for _, n := range order {
		_, state = p.model.Step(state, p.records[n], nil)
		before = append(before, p.records[n])
		left[n].Kind = "" // it is in the order
	}
	left = slices.DeleteFunc(left, func(r Record) bool { return r.Kind == "" })

	// What is next was called before any that is left has returned. The first of
	// them to return could not be put off any more.
	reach := p.reach(order)
	var next, late []Record
	for _, r := range left {
		ends, _ := p.model.Step(state, r, nil)
		switch {
		case r.Call <= reach:
			next = append(next, r)
		case r.Kind == End && ends:
			late = append(late, r)
		}
	}
	slices.SortStableFunc(next, func(a, b Record) int { return cmp.Compare(a.Return, b.Return) })

	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d operations could be put in order", len(order), len(p.records))
	if hidden := len(before) - shownBefore; hidden > 0 {
		b.WriteString(", and the last of these are")
		before = before[hidden:]
	}
	p.list(&b, before)
	if len(order) == 0 {
		b.WriteString("\nno order begins with:")
	} else {
		fmt.Fprintf(&b, "\nthen it is: %s\nand no order goes on with:", p.model.DescribeState(state))
	}
	p.list(&b, next[:min(len(next), shownAfter)])
	if hidden := len(next) - shownAfter; hidden > 0 {
		fmt.Fprintf(&b, "\n  and %d more", hidden)
	}
	if len(late) > 0 {
		b.WriteString("\nthe end of what was held came later:")
		p.list(&b, late[:min(len(late), shownAfter)])
	}
	return b.String()
}

func (p part) list(b *strings.Builder, records []Record) {
	for _, r := range records {
		b.WriteString("\n  " + r.told(p.start))
	}
}
