package fencetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/palisade-go/palisade/token"
)

var errWrite = errors.New("the write function failed")

// failing returns the error that a write function returns for an entry.
func failing(entry string) error {
	if strings.HasPrefix(entry, "fail") {
		return fmt.Errorf("%q: %w", entry, errWrite)
	}
	return nil
}

// naive is a whole guard: a mutex and maps. With a fault it is a broken one.
type naive struct {
	fault fault
	// keepsFence makes it a guard that can't take back what a failed write did.
	keepsFence bool

	mu     sync.Mutex
	spaces map[string]*space
	meet   chan struct{} // where calls meet that have let the lock go
}

// space is what a naive guard keeps of one resource.
type space struct {
	highest token.Token
	entries []string
	done    map[string]token.Receipt
	order   []string // the keys of done, the oldest first
}

func newNaive() *naive {
	return &naive{spaces: make(map[string]*space), meet: make(chan struct{})}
}

func (g *naive) Append(ctx context.Context, w token.Write, entry string) (token.Receipt, error) {
	return g.write(ctx, call{verb: appendAny, write: w, entry: entry})
}

func (g *naive) AppendOnce(ctx context.Context, w token.Write, entry string) (token.Receipt, error) {
	return g.write(ctx, call{verb: appendOnce, write: w, entry: entry})
}

func (g *naive) write(ctx context.Context, c call) (token.Receipt, error) {
	w := c.write
	if err := g.begin(ctx, w); err != nil {
		return token.Receipt{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.space(w.Resource)
	if receipt, known, err := g.repeat(s, c); known {
		return receipt, err
	}
	before := s.entries
	g.pause(losesUpdates, looksUpWithoutLock)
	if err := g.judge(c, s.highest); err != nil {
		g.refused(s, w)
		return token.Receipt{}, err
	}
	g.pause(checksWithoutLock)
	if g.fault != losesUpdates {
		before = s.entries
	}
	if err := failing(c.entry); err != nil {
		g.failed(s, c)
		return token.Receipt{}, err
	}
	s.entries = append(slices.Clip(before), c.entry) // what was read stays as it is
	receipt := g.receipt(w, s)
	g.record(s, w, receipt)
	g.pause(raisesLate)
	g.raise(s, w)
	return g.given(receipt), nil
}

func (g *naive) Accept(ctx context.Context, w token.Write) error {
	if err := g.begin(ctx, w); err != nil {
		return err
	}
	if w.Operation != "" && g.fault != acceptTakesOperations {
		return fmt.Errorf("%w: nothing is done that operation %q could name", token.ErrInvalid, w.Operation)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.space(w.Resource)
	if err := g.judge(call{verb: accept, write: w}, s.highest); err != nil {
		g.refused(s, w)
		return err
	}
	g.pause(acceptLowers)
	switch g.fault {
	case acceptDoesNothing:
	case acceptLowers:
		s.highest = w.Token
	default:
		g.raise(s, w)
	}
	return nil
}

func (g *naive) Highest(_ context.Context, resource string) (token.Token, error) {
	if err := on(resource, 1, "").Check(); err != nil && g.fault == answersBadNames {
		return 5, nil
	} else if err != nil && g.fault != checksNothing {
		return 0, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.space(resource).highest, nil
}

func (g *naive) Entries(_ context.Context, resource string) ([]string, error) {
	if err := on(resource, 1, "").Check(); err != nil && g.fault != checksNothing {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.space(resource).entries), nil
}

// space returns what there is of a resource. Called with mu held.
func (g *naive) space(resource string) *space {
	key := g.key(resource)
	s := g.spaces[key]
	if s == nil {
		s = &space{done: make(map[string]token.Receipt)}
		g.spaces[key] = s
	}
	return s
}

// reopen makes a guard of a copy of what the other one has stored.
func (g *naive) reopen() *naive {
	next := newNaive()
	next.fault, next.keepsFence = g.fault, g.keepsFence
	for key, s := range g.spaces {
		kept := &space{highest: s.highest, entries: slices.Clone(s.entries), done: maps.Clone(s.done)}
		switch g.fault {
		case forgetsFences:
			kept.highest = 0
		case forgetsOperations:
			clear(kept.done)
		}
		next.spaces[key] = kept
	}
	return next
}

func reopenNaive(_ *testing.T, g Guard) Guard { return g.(*naive).reopen() }

func (g *naive) receipt(w token.Write, s *space) token.Receipt {
	position := len(s.entries)
	if g.fault == countsFromZero {
		position--
	}
	return token.Receipt{Token: w.Token, Value: []byte(strconv.Itoa(position))}
}

// given is the caller's own copy of a receipt.
func (g *naive) given(r token.Receipt) token.Receipt {
	if g.fault != sharesReceipts {
		r.Value = bytes.Clone(r.Value)
	}
	return r
}

func TestNaiveGuardsKeepTheRules(t *testing.T) {
	traits := TraitsOfRun()
	traits.Reopen = reopenNaive
	t.Run("OverTransactions", func(t *testing.T) {
		Run(t, traits, func(*testing.T) Guard { return newNaive() })
	})
	traits.KeepsFenceOfFailedWrite = true
	t.Run("KeepingTheFenceOfFailedWrites", func(t *testing.T) {
		Run(t, traits, func(*testing.T) Guard {
			g := newNaive()
			g.keepsFence = true
			return g
		})
	})
	traits.Reopen = nil
	t.Run("RefusingToTryAgainWhatFailed", func(t *testing.T) {
		Run(t, traits, func(*testing.T) Guard {
			g := newNaive()
			g.keepsFence, g.fault = true, refusesWhatFailed
			return g
		})
	})
}
