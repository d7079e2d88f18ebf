package objectfence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// memStore is a Store in memory whose next answers a test can spoil.
type memStore struct {
	mu      sync.Mutex
	objects map[Name]Object
	puts    int // that had an effect
	// spoil is asked before each PutIf of a pointer, with mu unlocked.
	spoil func(put func() (ETag, error)) (ETag, error)
}

var errLost = errors.New("the answer was lost")

func newMemStore() *memStore { return &memStore{objects: make(map[Name]Object)} }

func (s *memStore) Get(ctx context.Context, name Name) (Object, error) {
	if err := name.Check(); err != nil {
		return Object{}, err
	}
	if ctx.Err() != nil {
		return Object{}, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	object, found := s.objects[name]
	if !found {
		return Object{}, ErrNotFound
	}
	return Object{Body: bytes.Clone(object.Body), ETag: object.ETag}, nil
}

func (s *memStore) PutIf(ctx context.Context, name Name, body []byte, match ETag) (ETag, error) {
	if err := name.Check(); err != nil {
		return Absent, err
	}
	if ctx.Err() != nil {
		return Absent, ctx.Err()
	}
	put := func() (ETag, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.objects[name].ETag != match {
			return Absent, ErrChanged
		}
		s.puts++
		etag := ETag(fmt.Sprintf("%q", fmt.Sprint(s.puts)))
		s.objects[name] = Object{Body: bytes.Clone(body), ETag: etag}
		return etag, nil
	}
	s.mu.Lock()
	spoil := s.spoil
	s.mu.Unlock()
	if spoil != nil && strings.HasSuffix(string(name), ".pointer") {
		return spoil(put)
	}
	return put()
}

// set sets what spoils the PutIfs of pointers.
func (s *memStore) set(spoil func(put func() (ETag, error)) (ETag, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spoil = spoil
}

// names lists the objects that begin with prefix.
func (s *memStore) names(prefix Name) (names []Name) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.objects {
		if strings.HasPrefix(string(name), string(prefix)) {
			names = append(names, name)
		}
	}
	return names
}

func (s *memStore) remove(name Name) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, name)
}
