package httpfence

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// errCrowded says that too many wait for a resource.
var errCrowded = errors.New("too many requests wait for it")

// turns lets one request at a time work on a resource.
type turns struct {
	// waitersMax is how many may wait for a resource, besides the one that has
	// its turn.
	waitersMax int

	mu sync.Mutex
	// lines has an entry for each resource that somebody works on or waits for.
	lines map[string]*line
}

// line is the requests that want one resource.
type line struct {
	// seat holds one element while a request has its turn. It is never closed.
	// Those that wait to put theirs in are served in the order of their coming.
	seat chan struct{}
	// requests counts those that have their turn or wait for it; turns.mu guards
	// it. At zero the line is dropped.
	requests int
}

func newTurns(waitersMax int) *turns {
	return &turns{waitersMax: waitersMax, lines: make(map[string]*line)}
}

// take waits for the resource's turn and returns the function that gives it on,
// to be called once. It blocks until the requests before have given theirs on,
// or until ctx is done, whose error it returns then. With waitersMax waiting it
// returns errCrowded at once.
func (t *turns) take(ctx context.Context, resource string) (give func(), err error) {
	l, err := t.join(resource)
	if err != nil {
		return nil, err
	}
	select {
	case l.seat <- struct{}{}:
	case <-ctx.Done():
		t.leave(resource, l)
		return nil, ctx.Err()
	}
	give = func() {
		<-l.seat
		t.leave(resource, l)
	}
	// Select chose at random if the turn was free and the context had ended.
	if err := ctx.Err(); err != nil {
		give()
		return nil, err
	}
	return give, nil
}

func (t *turns) join(resource string) (*line, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lines[resource]
	if l == nil {
		l = &line{seat: make(chan struct{}, 1)}
		t.lines[resource] = l
	}
	if l.requests > t.waitersMax {
		return nil, fmt.Errorf("%w: %d", errCrowded, t.waitersMax)
	}
	l.requests++
	return l, nil
}

func (t *turns) leave(resource string, l *line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l.requests--
	if l.requests == 0 {
		delete(t.lines, resource)
	}
}
