package turn

import (
	"context"
	"sync"
)

// Lines is the lines of all resources. The zero value is ready for use. All
// methods are safe for concurrent use.
type Lines struct {
	mu sync.Mutex
	// lines has an entry for each resource that somebody works on or waits for.
	lines map[string]*line
}

// line is the callers that want one resource.
type line struct {
	// seat holds one element while a caller has its turn. It is never closed.
	seat chan struct{}
	// callers counts those that have their turn or wait for it; Lines.mu guards
	// it. At zero the line is dropped.
	callers int
}

// Take waits for the resource's turn and returns the function that gives it on,
// to be called once. It blocks until the callers before have given theirs on or
// ctx is done. Then, and also when both are the case, the turn is not taken and
// the context's error is returned.
func (l *Lines) Take(ctx context.Context, resource string) (give func(), err error) {
	in := l.join(resource)
	select {
	case in.seat <- struct{}{}:
	case <-ctx.Done():
		l.leave(resource, in)
		return nil, ctx.Err()
	}
	give = func() {
		<-in.seat
		l.leave(resource, in)
	}
	// Select chose at random if the turn was free and the context had ended.
	if ctx.Err() != nil {
		give()
		return nil, ctx.Err()
	}
	return give, nil
}

// Callers returns how many have the resource's turn or wait for it.
func (l *Lines) Callers(resource string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if in := l.lines[resource]; in != nil {
		return in.callers
	}
	return 0
}

func (l *Lines) join(resource string) *line {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lines == nil {
		l.lines = make(map[string]*line)
	}
	in := l.lines[resource]
	if in == nil {
		in = &line{seat: make(chan struct{}, 1)}
		l.lines[resource] = in
	}
	in.callers++
	return in
}

func (l *Lines) leave(resource string, in *line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	in.callers--
	if in.callers == 0 {
		delete(l.lines, resource)
	}
}
