package pebblefence

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// turns lets one caller at a time work on a resource. The zero value is ready
// for use.
type turns struct {
	mu sync.Mutex
	// lines has an entry for each resource that somebody works on or waits for.
	lines map[string]*line
}

// line is the callers that want one resource.
type line struct {
	// seat holds one element while a caller has its turn. It is never closed.
	seat chan struct{}
	// callers counts those that have their turn or wait for it; turns.mu guards
	// it. At zero the line is dropped.
	callers int
}

// take waits for the resource's turn and returns the function that gives it
// on. It blocks until the callers before have given theirs on or ctx is done.
// Then, and also when both are the case, it returns the context's error.
func (t *turns) take(ctx context.Context, resource string) (give func(), err error) {
	l := t.join(resource)
	select {
	case l.seat <- struct{}{}:
	case <-ctx.Done():
		t.leave(resource, l)
		return nil, ended(ctx)
	}
	give = func() {
		<-l.seat
		t.leave(resource, l)
	}
	// Select chose at random if the turn was free and the context had ended.
	if ctx.Err() != nil {
		give()
		return nil, ended(ctx)
	}
	return give, nil
}

func (t *turns) join(resource string) *line {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lines == nil {
		t.lines = make(map[string]*line)
	}
	l := t.lines[resource]
	if l == nil {
		l = &line{seat: make(chan struct{}, 1)}
		t.lines[resource] = l
	}
	l.callers++
	return l
}

func (t *turns) leave(resource string, l *line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l.callers--
	if l.callers == 0 {
		delete(t.lines, resource)
	}
}

// ended says that ctx is done, and why.
func ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return fmt.Errorf("pebblefence: nothing was written: %w", cause)
	}
	return fmt.Errorf("pebblefence: nothing was written: %w: %w", err, cause)
}
