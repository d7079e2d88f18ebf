package history

import (
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
	order := longest(info.PartialLinearizations()[0])
	if order == nil && result == porcupine.Unknown {
		return fmt.Errorf("%w: %s %q: %d operations", kind, p.what, p.about, len(p.records))
	}
	return fmt.Errorf("%w: %s %q: %s\nVisualize draws all of it", kind, p.what, p.about, p.impasse(order))
}

// longest returns the longest of some orders, and of several the first by the
// numbers of their operations.
func longest(orders [][]int) []int {
	var best []int
	for _, order := range orders {
		if len(order) > len(best) || len(order) == len(best) && slices.Compare(order, best) < 0 {
			best = order
		}
	}
	return best
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

	// What is next was called before any that is left has returned.
	next := left
	returned := Never
	for _, r := range left {
		returned = min(returned, r.Return)
	}
	if n := slices.IndexFunc(left, func(r Record) bool { return r.Call > returned }); n >= 0 {
		next = left[:n]
	}
	late := slices.DeleteFunc(slices.Clone(left[len(next):]), func(r Record) bool {
		ends, _ := p.model.Step(state, r, nil)
		return r.Kind != End || !ends
	})

	var b strings.Builder
	fmt.Fprintf(&b, "no order of the %d operations was found beyond the first %d", len(p.records), len(order))
	if hidden := len(before) - shownBefore; hidden > 0 {
		fmt.Fprintf(&b, ", which end with")
		before = before[hidden:]
	}
	p.list(&b, before)
	if s := p.model.DescribeState(state); s != "" {
		fmt.Fprintf(&b, "\nthen: %s; and this could not follow:", s)
	} else {
		b.WriteString("\nthis could not be first:")
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
