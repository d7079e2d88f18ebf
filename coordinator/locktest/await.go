package locktest

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// news is how those who wait hear that some replica has moved.
type news struct {
	mu    sync.Mutex
	moved chan struct{} // closed and replaced at each move
}

func newNews() *news { return &news{moved: make(chan struct{})} }

// tell wakes all who wait. It does not block.
func (n *news) tell() {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.moved)
	n.moved = make(chan struct{})
}

// next returns a channel that is closed at the next move.
func (n *news) next() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.moved
}

// lookAgain is how often Await asks while nothing moves: not all that a test
// may ask for is moved by a log entry.
const lookAgain = 20 * time.Millisecond

// Await waits until holds returns true. It asks at once, then whenever a
// replica of any node has applied a log entry, has installed a snapshot or
// knows of another leader, and every 20 ms besides. holds must not block for
// long. If ctx ends first, the error is that of ctx and says what was waited
// for.
func (c *Cluster) Await(ctx context.Context, what string, holds func() bool) error {
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	for {
		moved := c.news.next()
		if holds() {
			return nil
		}
		select {
		case <-moved:
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("locktest: waited in vain for %s (%v): %w", what, c, ctx.Err())
		}
	}
}
