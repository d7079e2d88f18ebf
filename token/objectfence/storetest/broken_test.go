package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token/objectfence"
)

// naive is a store in memory that keeps all rules, but for one that a test
// breaks.
type naive struct {
	mu      sync.Mutex
	objects map[objectfence.Name]objectfence.Object
	puts    int
	broken  string // the rule that it does not keep, "" for none
}

func (s *naive) Get(ctx context.Context, name objectfence.Name) (objectfence.Object, error) {
	if err := name.Check(); err != nil && s.broken != "takes any name to read" {
		return objectfence.Object{}, err
	}
	if ctx.Err() != nil && s.broken != "reads with a finished context" {
		return objectfence.Object{}, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	object, found := s.objects[s.key(name)]
	switch {
	case !found && s.broken == "has nothing for what is not there":
		return objectfence.Object{ETag: `"nothing"`}, nil
	case !found:
		return objectfence.Object{}, objectfence.ErrNotFound
	case s.broken == "says no ETag":
		object.ETag = objectfence.Absent
	case s.broken == "cuts long bodies":
		object.Body = object.Body[:min(len(object.Body), 1<<16)]
	}
	if s.broken != "gives its own slice away" {
		object.Body = bytes.Clone(object.Body)
	}
	return object, nil
}

// key is the name under which the object is kept.
func (s *naive) key(name objectfence.Name) objectfence.Name {
	if s.broken == "cuts long names" {
		return name[:min(len(name), 100)]
	}
	return name
}

func (s *naive) PutIf(
	ctx context.Context, name objectfence.Name, body []byte, match objectfence.ETag,
) (objectfence.ETag, error) {
	if err := name.Check(); err != nil && s.broken != "takes any name to write" {
		return objectfence.Absent, err
	}
	if ctx.Err() != nil && s.broken != "writes with a finished context" {
		return objectfence.Absent, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.objects[s.key(name)].ETag
	if s.broken == "checks and writes apart" {
		s.mu.Unlock()
		for range 20 {
			runtime.Gosched()
		}
		s.mu.Lock()
	}
	if now != match && !s.agrees(now, match) {
		if s.broken == "writes what it refuses" {
			s.put(name, body)
		}
		if s.broken == "has its own word for changed" {
			return objectfence.Absent, errors.New("precondition failed")
		}
		return objectfence.Absent, objectfence.ErrChanged
	}
	return s.put(name, body), nil
}

// agrees says whether the store takes a write that it had to refuse.
func (s *naive) agrees(now, match objectfence.ETag) bool {
	switch s.broken {
	case "ignores If-None-Match":
		return match == objectfence.Absent
	case "ignores If-Match":
		return match != objectfence.Absent && now != objectfence.Absent
	case "makes what is to be replaced":
		return match != objectfence.Absent && now == objectfence.Absent
	}
	return false
}

func (s *naive) put(name objectfence.Name, body []byte) objectfence.ETag {
	s.puts++
	etag := objectfence.ETag(fmt.Sprintf(`"%d"`, s.puts))
	switch s.broken {
	case "has one ETag for an object":
		etag = objectfence.ETag(`"` + name + `"`)
	case "has one ETag for all lengths":
		etag = objectfence.ETag(fmt.Sprintf(`"length %d"`, len(body)/10))
	case "returns another ETag than it has":
		s.objects[s.key(name)] = objectfence.Object{Body: bytes.Clone(body), ETag: etag}
		return etag[:1] + "x" + etag[1:]
	}
	if s.broken != "keeps the callers slice" {
		body = bytes.Clone(body)
	}
	s.objects[s.key(name)] = objectfence.Object{Body: body, ETag: etag}
	return etag
}

// failure is a rule's verdict.
type failure struct{ text string }

// recorder is a reporter that ends the rule by a panic.
type recorder struct{}

func (recorder) Helper() {}
func (recorder) Fatalf(format string, args ...any) {
	panic(failure{fmt.Sprintf(format, args...)})
}

// failed returns the statements that the store does not keep.
func failed(t *testing.T, broken string) (statements []string) {
	for _, rule := range rules {
		func() {
			defer func() {
				switch r := recover().(type) {
				case nil:
				case failure:
					t.Logf("%s: %s: %.150s", broken, rule.statement, r.text)
					statements = append(statements, rule.statement)
				default:
					panic(r)
				}
			}()
			store := &naive{objects: make(map[objectfence.Name]objectfence.Object), broken: broken}
			rule.check(context.Background(), recorder{}, store)
		}()
	}
	return statements
}

func TestANaiveStoreKeepsEveryRule(t *testing.T) {
	require.Empty(t, failed(t, ""))
	Run(t, func(*testing.T) objectfence.Store {
		return &naive{objects: make(map[objectfence.Name]objectfence.Object)}
	})
}

func TestABrokenStoreIsFound(t *testing.T) {
	found := make(map[string]bool)
	for broken, by := range map[string]string{
		"has nothing for what is not there": "WhatIsNotThereIsNotFound",
		"says no ETag":                      "WhatWasPutIsRead",
		"cuts long bodies":                  "WhatWasPutIsRead",
		"returns another ETag than it has":  "WhatWasPutIsRead",
		"gives its own slice away":          "BodiesAreCopied",
		"keeps the callers slice":           "BodiesAreCopied",
		"ignores If-None-Match":             "AnObjectIsMadeOnce",
		"writes what it refuses":            "AnObjectIsMadeOnce",
		"has its own word for changed":      "AnObjectIsMadeOnce",
		"ignores If-Match":                  "AWrongETagReplacesNothing",
		"has one ETag for an object":        "AnETagReplacesOnce",
		"has one ETag for all lengths":      "AnETagReplacesOnce",
		"makes what is to be replaced":      "AnETagMakesNothing",
		"cuts long names":                   "NamesAreComparedToTheEnd",
		"takes any name to read":            "BadNamesAreRefused",
		"takes any name to write":           "BadNamesAreRefused",
		"reads with a finished context":     "AFinishedContextDoesNothing",
		"writes with a finished context":    "AFinishedContextDoesNothing",
		"checks and writes apart":           "OfManyAtOnceOneWins",
	} {
		t.Run(strings.ReplaceAll(broken, " ", "_"), func(t *testing.T) {
			statements := failed(t, broken)
			require.Contains(t, statements, by)
			for _, statement := range statements {
				found[statement] = true
			}
		})
	}
	t.Run("EveryRuleBites", func(t *testing.T) {
		for _, rule := range rules {
			if rule.statement != "ReadersSeeWholeBodies" { // a map in memory has no halves
				require.True(t, found[rule.statement], rule.statement)
			}
		}
	})
}

// TestHalfABodyIsFound: a store that writes in two steps.
func TestHalfABodyIsFound(t *testing.T) {
	defer func() {
		found, _ := recover().(failure)
		require.Contains(t, found.text, "that nobody put")
	}()
	wholeBodies(context.Background(), recorder{}, &halves{naive{objects: make(map[objectfence.Name]objectfence.Object)}})
	t.Fatal("the rule saw nothing")
}

// halves shows half of a body every other time.
type halves struct{ naive }

func (s *halves) Get(ctx context.Context, name objectfence.Name) (objectfence.Object, error) {
	object, err := s.naive.Get(ctx, name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.puts > 1 {
		object.Body = object.Body[:len(object.Body)/2]
	}
	return object, err
}
