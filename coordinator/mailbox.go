package coordinator

import "sync"

// mailbox hands inputs to the one goroutine that owns a group's hub, in the
// order in which they were put. Putting never blocks, so the apply loop of
// the engine is never held up; what is inside is bounded by the calls and
// flights that are open, and by the log entries not looked at yet.
type mailbox struct {
	mu sync.Mutex
	in []input
	// wake has room for one: it says that there may be something inside.
	wake chan struct{}
}

func newMailbox() *mailbox { return &mailbox{wake: make(chan struct{}, 1)} }

func (m *mailbox) put(in input) {
	m.mu.Lock()
	m.in = append(m.in, in)
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// take empties the mailbox into spare, whose memory is used again.
func (m *mailbox) take(spare []input) []input {
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := m.in
	m.in = spare[:0]
	return taken
}
