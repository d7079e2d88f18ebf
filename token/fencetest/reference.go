package fencetest

import (
	"slices"
	"strconv"

	"github.com/palisade-go/palisade/token"
)

// reference is a guard with a resource behind it as plainly as it can be said,
// written from the rules of package token. A guard has to give what it gives.
type reference struct {
	// keepsFence is Traits.KeepsFenceOfFailedWrite.
	keepsFence bool
	shelves    map[string]*shelf
}

// shelf is what there is of one resource.
type shelf struct {
	highest token.Token
	entries []string
	done    map[token.Operation]token.Receipt
}

func newReference(traits Traits) *reference {
	return &reference{keepsFence: traits.KeepsFenceOfFailedWrite, shelves: make(map[string]*shelf)}
}

// shelf returns what there is of a resource, and makes an empty one at first.
// It is not called with a name that guards refuse: what has a shelf is read at
// the end of a trial.
func (r *reference) shelf(resource string) *shelf {
	s := r.shelves[resource]
	if s == nil {
		s = &shelf{done: make(map[token.Operation]token.Receipt)}
		r.shelves[resource] = s
	}
	return s
}

// judge says what has to come of a call, and why. It changes nothing, so that
// it can be asked of several calls which of them may be the next.
func (r *reference) judge(c call) (outcome, string) {
	w := c.write
	switch {
	case c.finished != nil:
		return outcome{effect: ended}, "a write whose context has ended is not begun"
	case w.Check() != nil:
		return outcome{effect: invalid}, "Write.Check refuses it, before anything else is looked at"
	case c.verb == accept && w.Operation != "":
		return outcome{effect: invalid}, "Accept does nothing that an operation id could name"
	}
	s := r.shelf(w.Resource)
	if first, known := s.done[w.Operation]; known {
		first.Repeated = true
		return outcome{effect: repeated, receipt: first},
			"rule 7 of package token: the operation took effect before, so its first receipt is given, whatever the token"
	}
	refusal := outcome{effect: stale, refusal: token.StaleError{Resource: w.Resource, Given: w.Token, Highest: s.highest}}
	switch {
	case w.Token < s.highest:
		return refusal, "rule 2 of package token: a greater token was accepted, and tokens only rise"
	case w.Token == s.highest && c.verb == appendOnce:
		return refusal, "AppendOnce allows one write for each token, and this one was accepted before"
	case c.verb == accept:
		return outcome{effect: accepted}, "rule 4 of package token: no greater token was accepted"
	case c.fails():
		return outcome{effect: failed}, "its write function returns an error"
	}
	value := strconv.Itoa(len(s.entries) + 1)
	return outcome{effect: written, receipt: token.Receipt{Token: w.Token, Value: []byte(value)}},
		"rule 4 of package token: no greater token was accepted, and the operation is not known"
}

// keep changes what there is as the outcome of a call says. A write that
// failed can have left its entry, where a guard can't take it back: left says
// so.
func (r *reference) keep(c call, o outcome, left bool) {
	if !r.raises(o) {
		return
	}
	s := r.shelf(c.write.Resource)
	s.highest = max(s.highest, c.write.Token)
	if o.effect == written || o.effect == failed && left {
		s.entries = append(s.entries, c.entry)
	}
	if o.effect == written && c.write.Operation != "" {
		s.done[c.write.Operation] = o.receipt
	}
}

// raises says whether a call with this outcome has its token accepted.
func (r *reference) raises(o outcome) bool {
	return o.effect == written || o.effect == repeated || o.effect == accepted || o.effect == failed && r.keepsFence
}

// agrees says whether a call came to what is expected of it. What became of a
// write that failed is not always known where it can't be taken back.
func (r *reference) agrees(c call, expected outcome) bool {
	seen := c.seen()
	if seen.effect == unknown && expected.effect == failed && r.keepsFence {
		return true
	}
	return seen.equal(expected)
}

// leaves says whether a list is what a shelf has, or that with the entry of a
// failed write at its end.
func (s *shelf) leaves(list []string, entry string) (same, left bool) {
	if slices.Equal(list, s.entries) {
		return true, false
	}
	n := len(s.entries)
	left = len(list) == n+1 && slices.Equal(list[:n], s.entries) && list[n] == entry
	return left, left
}
