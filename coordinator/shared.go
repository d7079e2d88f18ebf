package coordinator

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// sharedRequests are the requests with an id, which several callers of this
// node may join.
type sharedRequests struct {
	c *Coordinator

	mu   sync.Mutex
	byID map[string]*sharedRequest
}

// sharedRequest is one of them, from the first caller until no group has
// anything left of it. The fields but the channels are guarded by
// sharedRequests.mu.
type sharedRequest struct {
	request *request
	owner   *ownership
	callers int  // waiting for the answer
	left    bool // the last of them left: it is being withdrawn
	// answered is closed when the request has its answer, err.
	answered chan struct{}
	err      error
	cancel   context.CancelCauseFunc // ends the wait of all
}

// errCallersLeft ends the wait of a request when its last caller has left.
var errCallersLeft = errors.New("all callers have left")

// acquire joins the request with that id or starts it. One that is being
// withdrawn or given back is not joined: the new one goes out afterwards.
func (s *sharedRequests) acquire(ctx context.Context, r *request) (*handle, error) {
	deadlock := s.c.wouldDeadlock(ctx, r) // of this caller's own context
	for {
		sr, first, err := s.join(ctx, r, deadlock)
		if err != nil {
			return nil, err
		}
		if first == nil {
			o, err := s.answer(ctx, sr, r)
			if err != nil {
				return nil, err
			}
			if h, owned := o.grip(); owned {
				return h, nil
			}
			continue // another caller was quicker to release it
		}
		select {
		case <-first:
		case <-ctx.Done():
			return nil, &Error{r.op, keysText(r.keys), NotApplied, s.c.unavailable(fmt.Errorf("an earlier request %q is not settled: %w", r.id, endOf(ctx)))}
		case <-s.c.life.Done():
			return nil, &Error{r.op, keysText(r.keys), NotApplied, context.Cause(s.c.life)}
		}
	}
}

// join counts a caller in. If something else has to happen first, it returns
// a channel that is closed then. A caller that would wait for itself may still
// join what is owned already.
func (s *sharedRequests) join(ctx context.Context, r *request, deadlock error) (sr *sharedRequest, first <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sr = s.openLocked(r.id)
	switch {
	case deadlock != nil && (sr == nil || !sr.isAnswered()):
		return nil, nil, deadlock
	case sr == nil:
		if sr, err = s.startLocked(ctx, r); err != nil {
			return nil, nil, err
		}
	case sr.left || sr.isAnswered() && (sr.err != nil || sr.owner.Err() != nil):
		return nil, sr.owner.vanished(), nil
	case !sr.request.sameAs(r):
		return nil, nil, &Error{r.op, keysText(r.keys), NotApplied, fmt.Errorf("%w: request id %q is in use with other keys, ttl or max hold", ErrInvalid, r.id)}
	case sr.isAnswered() || r.try == sr.request.try:
	case r.try:
		return nil, nil, &Error{r.op, keysText(r.keys), NotApplied, &BusyError{}}
	default:
		// A try does not stand in line; whether it gets the lease has to be
		// known first.
		return nil, sr.answered, nil
	}
	sr.callers++
	return sr, nil, nil
}

func (sr *sharedRequest) isAnswered() bool {
	select {
	case <-sr.answered:
		return true
	default:
		return false
	}
}

// openLocked returns the request with an id, nil if no group has anything
// left of it: whoever released it may know before its goroutine has run.
func (s *sharedRequests) openLocked(id string) *sharedRequest {
	sr := s.byID[id]
	if sr == nil || sr.owner.isGone() {
		return nil
	}
	return sr
}

// startLocked lets a goroutine wait on behalf of all callers.
func (s *sharedRequests) startLocked(ctx context.Context, r *request) (*sharedRequest, error) {
	waiting, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	sr := &sharedRequest{
		request: r, owner: s.c.newOwnership(r),
		answered: make(chan struct{}), cancel: cancel,
	}
	runs := s.c.background(func() {
		err := s.c.take(waiting, r, sr.owner)
		cancel(nil)
		s.mu.Lock()
		sr.err = err
		close(sr.answered)
		if sr.left {
			sr.owner.abandon(Unknown, errCallersLeft) // the grant has crossed their leaving
		}
		s.mu.Unlock()
		select {
		case <-sr.owner.vanished():
		case <-s.c.dead:
		}
		s.mu.Lock()
		if s.byID[r.id] == sr { // otherwise the next one has begun already
			delete(s.byID, r.id)
		}
		s.mu.Unlock()
	})
	if !runs {
		cancel(nil)
		return nil, s.c.giveUp(r, sr.owner, NotApplied, context.Cause(s.c.life))
	}
	s.byID[r.id] = sr
	return sr, nil
}

// answer waits for the request's answer on behalf of one caller.
func (s *sharedRequests) answer(ctx context.Context, sr *sharedRequest, r *request) (*ownership, error) {
	select {
	case <-sr.answered:
	case <-ctx.Done():
		if s.leave(sr) {
			return nil, &Error{r.op, keysText(r.keys), Unknown, fmt.Errorf("request %q: %w", r.id, sr.owner.leftBy(ctx))}
		}
	}
	if sr.err != nil {
		return nil, sr.err
	}
	return sr.owner, nil
}

// leave counts a caller out who waits no longer; with the last one the request
// is withdrawn. It does nothing and returns false if the answer is there.
func (s *sharedRequests) leave(sr *sharedRequest) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sr.isAnswered() {
		return false
	}
	sr.callers--
	if sr.callers == 0 {
		sr.left = true
		sr.cancel(errCallersLeft)
	}
	return true
}

// pending reports whether a request with the id waits, or is being withdrawn
// or given back.
func (s *sharedRequests) pending(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	sr := s.openLocked(id)
	return sr != nil && (!sr.isAnswered() || sr.err != nil || sr.owner.Err() != nil)
}
