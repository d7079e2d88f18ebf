package fencetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/palisade-go/palisade/token"
)

// pause lets the lock go and takes it again, for the faults that do so there.
// In between, another call does the same if there is one: the two are then
// where the fault shows.
func (g *naive) pause(faults ...fault) {
	if !slices.Contains(faults, g.fault) {
		return
	}
	g.mu.Unlock()
	defer g.mu.Lock()
	alone := time.NewTimer(time.Millisecond)
	defer alone.Stop()
	select {
	case g.meet <- struct{}{}:
	case <-g.meet:
	case <-alone.C:
	}
}

// begin looks at what does not need the lock.
func (g *naive) begin(ctx context.Context, w token.Write) error {
	if err := ctx.Err(); err != nil {
		switch {
		case g.fault == ignoresContext:
		case g.fault == ignoresCancelling && errors.Is(err, context.Canceled):
		case g.fault == ignoresDeadlines && errors.Is(err, context.DeadlineExceeded):
		case g.fault == raisesForFinished:
			g.mu.Lock()
			defer g.mu.Unlock()
			g.raise(g.space(w.Resource), w)
			return err
		default:
			return err
		}
	}
	switch g.fault {
	case checksNothing:
		return nil
	case countsCharacters:
		if n := utf8.RuneCountInString(w.Resource); n != len(w.Resource) && n <= token.ResourceBytesMax {
			w.Resource = "short enough"
		}
		if n := utf8.RuneCountInString(string(w.Operation)); n != len(w.Operation) && n <= token.OperationBytesMax {
			w.Operation = "short enough"
		}
	}
	return w.Check()
}

// key is where a resource is kept.
func (g *naive) key(resource string) string {
	switch g.fault {
	case foldsResources:
		return strings.ToLower(resource)
	case trimsResources:
		return strings.TrimSpace(resource)
	}
	return resource
}

// operationKey is where an operation is kept.
func (g *naive) operationKey(w token.Write) string {
	switch g.fault {
	case foldsOperations:
		return strings.ToLower(string(w.Operation))
	case joinsNames:
		return w.Resource + "/" + string(w.Operation)
	}
	return string(w.Operation)
}

// known looks for an operation. Called with mu held.
func (g *naive) known(s *space, c call) (token.Receipt, bool) {
	none := c.write.Operation == "" && g.fault != emptyIsAnOperation
	if none || c.verb == appendOnce && g.fault == onceRepeatsNothing {
		return token.Receipt{}, false
	}
	key := g.operationKey(c.write)
	if g.fault == operationOfAll || g.fault == joinsNames {
		for _, resource := range slices.Sorted(maps.Keys(g.spaces)) {
			if receipt, known := g.spaces[resource].done[key]; known {
				return receipt, true
			}
		}
	}
	receipt, known := s.done[key]
	return receipt, known
}

// repeat answers for an operation that is known. Called with mu held.
func (g *naive) repeat(s *space, c call) (receipt token.Receipt, known bool, err error) {
	first, known := g.known(s, c)
	if !known {
		return token.Receipt{}, false, nil
	}
	if g.fault == staleBeforeRepeated {
		if err := g.judge(c, s.highest); err != nil {
			return token.Receipt{}, true, err
		}
	}
	if first.Value == nil {
		return token.Receipt{}, true, fmt.Errorf("operation %q has failed before: %w", c.write.Operation, token.ErrUnknown)
	}
	switch g.fault {
	case repeatRaisesNothing:
	case repeatLowers:
		s.highest = c.write.Token
	default:
		g.raise(s, c.write)
	}
	first.Repeated = true
	switch g.fault {
	case repeatGivesOwnToken:
		first.Token = c.write.Token
	case repeatGivesNewValue:
		first.Value = []byte(strconv.Itoa(len(s.entries)))
	case repeatWrites:
		s.entries = append(s.entries, c.entry)
	case repeatIsNotSaid:
		first.Repeated = false
	}
	return g.given(first), true, nil
}

// judge says whether a token may follow the highest.
func (g *naive) judge(c call, highest token.Token) error {
	w := c.write
	err := w.Judge(highest)
	if c.verb == appendOnce && g.fault != onceTakesEqual || c.verb == appendAny && g.fault == refusesEqual {
		err = w.JudgeOnce(highest)
	}
	switch {
	case g.fault == takesLower,
		g.fault == comparesText && w.Token.String() > highest.String(),
		g.fault == comparesCounters && w.Token.Counter() > highest.Counter():
		return nil
	case g.fault == comparesFloats && c.verb == appendOnce && float64(w.Token) == float64(highest):
		return &token.StaleError{Resource: w.Resource, Given: w.Token, Highest: highest}
	case err != nil && g.fault == namesNoTokens:
		return token.ErrStale
	case err != nil && g.fault == namesOwnToken:
		return &token.StaleError{Resource: w.Resource, Given: w.Token, Highest: w.Token}
	}
	return err
}

// refused is what is left of a write that was refused: nothing.
func (g *naive) refused(s *space, w token.Write) {
	switch g.fault {
	case refusedLowers:
		s.highest = w.Token
	case refusedIsRecorded:
		g.record(s, w, token.Receipt{Token: w.Token, Value: []byte("0")})
	}
}

// failed is what is left of a write that failed.
func (g *naive) failed(s *space, c call) {
	if g.keepsFence && g.fault != failedIsForgotten || g.fault == failedRaises {
		g.raise(s, c.write)
	}
	if g.keepsFence || g.fault == failedStays {
		s.entries = append(s.entries, c.entry)
	}
	switch g.fault {
	case failedIsRecorded:
		g.record(s, c.write, g.receipt(c.write, s))
	case refusesWhatFailed:
		g.record(s, c.write, token.Receipt{})
	}
}

func (g *naive) raise(s *space, w token.Write) { s.highest = max(s.highest, w.Token) }

// record keeps the receipt of an operation.
func (g *naive) record(s *space, w token.Write, r token.Receipt) {
	if w.Operation == "" && g.fault != emptyIsAnOperation {
		return
	}
	key := g.operationKey(w)
	s.done[key] = r
	s.order = append(s.order, key)
	if g.fault == forgetsSoon && len(s.order) == OperationsMax {
		delete(s.done, s.order[0])
		s.order = s.order[1:]
	}
}
