package coordinator

import (
	"context"
	"errors"
)

// WaitEnd says how the wait of a request has ended.
type WaitEnd uint8

// How a wait ends.
const (
	WaitOther WaitEnd = iota
	WaitAcquired
	WaitBusy        // a try found the key taken
	WaitQueueFull   // ErrQueueFull
	WaitTimeout     // the deadline of the context, or WithWait
	WaitCancelled   // the context was cancelled
	WaitUnavailable // the group gave no answer in time
	WaitLost        // granted, and lost before it could be handed out
	WaitClosed      // the node is closing
)

var waitEndNames = [...]string{"other", "acquired", "busy", "queue full", "timeout", "cancelled", "unavailable", "lost", "closed"}

// String returns the name.
func (e WaitEnd) String() string { return nameOf(waitEndNames[:], int(e)) }

// waitEndOf tells from what an acquire returns how its wait has ended. What says
// more comes first: an error has several causes in it.
func waitEndOf(err error) WaitEnd {
	switch {
	case err == nil:
		return WaitAcquired
	case errors.Is(err, ErrBusy):
		return WaitBusy
	case errors.Is(err, ErrQueueFull):
		return WaitQueueFull
	case errors.Is(err, ErrClosed):
		return WaitClosed
	case errors.Is(err, ErrLeaseLost):
		return WaitLost
	case errors.Is(err, ErrUnavailable):
		return WaitUnavailable
	case errors.Is(err, context.DeadlineExceeded):
		return WaitTimeout
	case errors.Is(err, context.Canceled):
		return WaitCancelled
	}
	return WaitOther
}

func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return names[0]
}
