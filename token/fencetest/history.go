package fencetest

import (
	"fmt"
	"slices"

	"github.com/palisade-go/palisade/token"
)

// history is what concurrent calls at one resource came to, and what they left.
// An order that explains all of it is the proof; the other checks say in one
// sentence what is wrong where there is none.
type history struct {
	calls  []call
	left   shelf // without done
	traits Traits
}

// check returns nil if the history can be that of a guard.
func (h history) check() error {
	for _, check := range []func() error{
		h.expectedEffects, h.entriesAtTheirPlaces, h.tokensOnlyRise, h.operationsOnce, h.refusalsJustified,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return findOrder(newReference(h.traits), h.calls, h.left)
}

// expectedEffects looks for calls that came to what none of them may.
func (h history) expectedEffects() error {
	for _, c := range h.calls {
		switch effect := c.seen().effect; effect {
		case written, repeated, accepted, stale:
		case failed, unknown:
			if !c.fails() || effect == unknown && !h.traits.KeepsFenceOfFailedWrite {
				return fmt.Errorf("%v\nexpected: done or refused as stale; a guard waits for its turn or tries again", c)
			}
		default:
			return fmt.Errorf("%v\nexpected: done or refused as stale", c)
		}
	}
	return nil
}

// entriesAtTheirPlaces looks for each entry that was written where its receipt
// says that it is, once, and for no others.
func (h history) entriesAtTheirPlaces() error {
	places := make(map[string][]int)
	for i, entry := range h.left.entries {
		places[entry] = append(places[entry], i+1)
	}
	for _, c := range h.calls {
		at := places[c.entry]
		delete(places, c.entry)
		switch seen := c.seen(); {
		case seen.effect == written && (len(at) != 1 || fmt.Sprint(at[0]) != string(seen.receipt.Value)):
			return fmt.Errorf("%v\nexpected: its entry once in the list, at place %s; it is at %v: a write was lost or doubled",
				c, seen.receipt.Value, at)
		case seen.effect == failed || seen.effect == unknown:
			if len(at) > 1 || len(at) == 1 && !h.traits.KeepsFenceOfFailedWrite {
				return fmt.Errorf("%v\nand its entry is in the list at %v", c, at)
			}
		case seen.effect != written && len(at) > 0:
			return fmt.Errorf("%v\nand its entry is in the list, at %v", c, at)
		}
	}
	for entry, at := range places {
		return fmt.Errorf("entry %q is in the list at %v, and nobody wrote it", entry, at)
	}
	return nil
}

// tokensOnlyRise is rule 2 for the list.
func (h history) tokensOnlyRise() error {
	byEntry := make(map[string]call)
	for _, c := range h.calls {
		byEntry[c.entry] = c
	}
	var highest token.Token
	for i, entry := range h.left.entries {
		c := byEntry[entry]
		if c.write.Token < highest || c.write.Token == highest && c.verb == appendOnce {
			return fmt.Errorf("%v\nand entry %d of the list before it was written with token %s\n"+
				"by: rules 2 and 5 of package token: the check and the write are one step", c, i, highest)
		}
		highest = max(highest, c.write.Token)
	}
	if h.left.highest < highest {
		return fmt.Errorf("the greatest token accepted is %s, and a write with token %s is in the list", h.left.highest, highest)
	}
	return nil
}

// operationsOnce looks for one first receipt of each operation, and compares
// all others with it.
func (h history) operationsOnce() error {
	first := make(map[token.Operation]call)
	for _, c := range h.calls {
		if c.seen().effect != written || c.write.Operation == "" {
			continue
		}
		if other, done := first[c.write.Operation]; done {
			return fmt.Errorf("%v\nand\n%v\nby: rule 7 of package token: the operation took effect twice", other, c)
		}
		first[c.write.Operation] = c
	}
	for _, c := range h.calls {
		if c.seen().effect != repeated {
			continue
		}
		want := first[c.write.Operation].receipt
		if !sameReceipt(c.receipt, want) {
			return fmt.Errorf("%v\nexpected: the first receipt, of token %s and value %q\nby: rule 7 of package token",
				c, want.Token, want.Value)
		}
	}
	return nil
}

// refusalsJustified looks, for each refusal, for a call that had the token
// accepted which it names, and that began before the refusal ended.
func (h history) refusalsJustified() error {
	for _, c := range h.calls {
		seen := c.seen()
		if seen.effect != stale {
			continue
		}
		justified := slices.ContainsFunc(h.calls, func(other call) bool {
			raises := newReference(h.traits).raises(other.seen()) || other.seen().effect == unknown
			return raises && other.write.Token == seen.refusal.Highest && other.began < c.ended
		})
		if !justified {
			return fmt.Errorf("%v\nand nobody had token %s accepted before that ended", c, seen.refusal.Highest)
		}
	}
	return nil
}
