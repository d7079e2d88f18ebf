package storetest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/httpfence"
)

// OperationsMax is how many operations of a resource the stores under test have
// to remember.
const OperationsMax = 8

// Run checks every rule as a sub-test, each on an empty store of its own, that
// remembers OperationsMax operations of a resource.
func Run(t *testing.T, open func(t *testing.T) httpfence.Store) {
	t.Helper()
	for _, rule := range []struct {
		statement string
		check     func(s *subject)
	}{
		{"WhatWasNeverSavedIsZero", neverSaved},
		{"AFenceNeverFalls", fenceNeverFalls},
		{"ARecordIsLoadedAsItWasSaved", recordComesBack},
		{"ForgettingLeavesTheRest", forgetting},
		{"NamesDoNotCollide", namesDoNotCollide},
		{"OfEachResourceTheOldestOperationIsForgottenFirst", oldestFirst},
		{"NothingIsShared", nothingShared},
		{"ResourcesAreIndependent", independent},
		{"ARandomHistoryEqualsTheNaiveModel", randomHistory},
	} {
		t.Run(rule.statement, func(t *testing.T) { rule.check(&subject{t: t, store: open(t)}) })
	}
}

// subject is a store with what the rules say of it.
type subject struct {
	t     *testing.T
	store httpfence.Store
}

func (s *subject) save(resource string, change httpfence.Change) {
	s.t.Helper()
	require.NoError(s.t, s.store.Save(context.Background(), resource, change))
}

func (s *subject) load(resource string, operation token.Operation) httpfence.Kept {
	s.t.Helper()
	kept, err := s.store.Load(context.Background(), resource, operation)
	require.NoError(s.t, err)
	return kept
}

// Begun returns a record as it is when its operation begins.
func Begun(t token.Token, print byte) *httpfence.Record {
	return &httpfence.Record{Token: t, Fingerprint: httpfence.Fingerprint{print}}
}

// Answered returns a record with an answer that has everything.
func Answered(t token.Token, print byte) *httpfence.Record {
	r := Begun(t, print)
	r.Answer = &httpfence.Answer{
		Status:  http.StatusCreated,
		Header:  http.Header{"Content-Type": {"text/plain"}, "Link": {"<a>", "<b>"}, "X-Empty": {""}},
		Trailer: http.Header{"Digest": {"sum"}},
		Body:    []byte("body \x00\xff of " + t.String()),
	}
	return r
}

// Omitted returns a record whose answer was too large.
func Omitted(t token.Token, print byte) *httpfence.Record {
	r := Begun(t, print)
	r.Answer = &httpfence.Answer{Status: http.StatusOK, Omitted: true}
	return r
}

func neverSaved(s *subject) {
	require.Zero(s.t, s.load("a", ""))
	require.Zero(s.t, s.load("a", "op"))
	s.save("a", httpfence.Change{Operation: "op"}) // nothing to forget
	require.Zero(s.t, s.load("a", "op"))
	s.save("a", httpfence.Change{Highest: 3})
	require.Equal(s.t, httpfence.Kept{Highest: 3}, s.load("a", ""))
	require.Equal(s.t, httpfence.Kept{Highest: 3}, s.load("a", "op"))
	require.Zero(s.t, s.load("b", ""))
}

func fenceNeverFalls(s *subject) {
	for _, step := range []struct{ save, want token.Token }{
		{5, 5}, {4, 5}, {0, 5}, {5, 5}, {1<<62 + 1, 1<<62 + 1}, {6, 1<<62 + 1},
	} {
		s.save("a", httpfence.Change{Highest: step.save})
		require.Equal(s.t, step.want, s.load("a", "").Highest, "after %s", step.save)
	}
	s.save("a", httpfence.Change{Operation: "op", Record: Begun(3, 1)})
	require.Equal(s.t, token.Token(1<<62+1), s.load("a", "op").Highest)
}

func recordComesBack(s *subject) {
	empty := Begun(2, 9)
	empty.Answer = &httpfence.Answer{Status: http.StatusNoContent}
	for name, record := range map[token.Operation]*httpfence.Record{
		"begun": Begun(2, 7), "answered": Answered(3, 8), "omitted": Omitted(4, 9), "empty": empty,
	} {
		s.save("a", httpfence.Change{Highest: 4, Operation: name, Record: record})
		require.Equal(s.t, httpfence.Kept{Highest: 4, Record: record}, s.load("a", name))
	}
	// An operation that ends takes the place of its beginning.
	s.save("a", httpfence.Change{Operation: "begun", Record: Answered(2, 7)})
	require.Equal(s.t, Answered(2, 7), s.load("a", "begun").Record)
}

func forgetting(s *subject) {
	s.save("a", httpfence.Change{Highest: 2, Operation: "one", Record: Answered(2, 1)})
	s.save("a", httpfence.Change{Operation: "two", Record: Answered(2, 2)})
	s.save("a", httpfence.Change{Operation: "one"})
	require.Equal(s.t, httpfence.Kept{Highest: 2}, s.load("a", "one"))
	require.Equal(s.t, Answered(2, 2), s.load("a", "two").Record)
	s.save("a", httpfence.Change{Highest: 5, Operation: "two"})
	require.Equal(s.t, httpfence.Kept{Highest: 5}, s.load("a", "two"))
	s.save("a", httpfence.Change{Operation: "one", Record: Begun(5, 3)})
	require.Equal(s.t, Begun(5, 3), s.load("a", "one").Record)
}

func namesDoNotCollide(s *subject) {
	long := strings.Repeat("r", token.ResourceBytesMax)
	type pair struct {
		resource  string
		operation token.Operation
	}
	pairs := []pair{
		{"a", "b/c"}, {"a/b", "c"}, {"a/b/c", "x"}, {"a", "bc"}, {"ab", "c"}, {"a", "b"}, {"A", "b"}, {"é", "%"}, {"%", "é"},
		{"\x01", "\x02"}, {"\x01\x02", "\x01"}, {long, "x"}, {long[1:], "rx"},
		{"a", token.Operation(strings.Repeat("o", token.OperationBytesMax))}, {" ", "\n"}, {"\n", " "},
	}
	for i, p := range pairs {
		highest := token.Token(1 + len(p.resource))
		s.save(p.resource, httpfence.Change{Highest: highest, Operation: p.operation, Record: Begun(1, byte(i))})
	}
	for i, p := range pairs {
		want := httpfence.Kept{Highest: token.Token(1 + len(p.resource)), Record: Begun(1, byte(i))}
		require.Equal(s.t, want, s.load(p.resource, p.operation), "%q", p)
	}
}

func oldestFirst(s *subject) {
	id := func(i int) token.Operation { return token.Operation(fmt.Sprint("op-", i)) }
	s.save("other", httpfence.Change{Operation: "old", Record: Answered(1, 1)})
	for i := range 3 * OperationsMax {
		s.save("a", httpfence.Change{Operation: id(i), Record: Begun(1, byte(i))})
		s.save("a", httpfence.Change{Operation: id(max(0, i-2)), Record: Answered(1, byte(max(0, i-2)))}) // keeps its place
		for j := range i + 1 {
			remembered := j > i-OperationsMax
			require.Equal(s.t, remembered, s.load("a", id(j)).Record != nil, "operation %d after %d", j, i)
		}
	}
	require.Equal(s.t, Answered(1, 1), s.load("other", "old").Record, "no other resource forgets")
	// One that was forgotten is new when it comes again.
	s.save("a", httpfence.Change{Operation: id(0), Record: Begun(9, 0)})
	require.Equal(s.t, Begun(9, 0), s.load("a", id(0)).Record)
	require.Nil(s.t, s.load("a", id(2*OperationsMax)).Record)
}

func nothingShared(s *subject) {
	record := Answered(1, 1)
	s.save("a", httpfence.Change{Operation: "op", Record: record})
	spoil := func(r *httpfence.Record) {
		r.Token, r.Fingerprint[0], r.Answer.Status = 9, 9, 500
		r.Answer.Body[0], r.Answer.Header["Link"][0] = 'X', "X"
		r.Answer.Trailer.Set("X", "X")
	}
	spoil(record)
	loaded := s.load("a", "op").Record
	require.Equal(s.t, Answered(1, 1), loaded)
	spoil(loaded)
	require.Equal(s.t, Answered(1, 1), s.load("a", "op").Record)
}

func independent(s *subject) {
	var writers sync.WaitGroup
	for i := range 16 {
		resource := fmt.Sprint("resource-", i)
		writers.Add(1)
		go func() {
			defer writers.Done()
			for n := range 20 {
				t := token.Token(1 + n)
				change := httpfence.Change{Highest: t, Operation: token.Operation(fmt.Sprint(n)), Record: Begun(t, byte(i))}
				if err := s.store.Save(context.Background(), resource, change); err != nil {
					s.t.Errorf("%s: %v", resource, err)
				}
				// Highest is read by anybody at any time.
				if _, err := s.store.Load(context.Background(), fmt.Sprint("resource-", (i+1)%16), ""); err != nil {
					s.t.Errorf("%s: %v", resource, err)
				}
			}
		}()
	}
	writers.Wait()
	for i := range 16 {
		require.Equal(s.t, httpfence.Kept{Highest: 20, Record: Begun(20, byte(i))}, s.load(fmt.Sprint("resource-", i), "19"))
	}
}
