package transport

import "sync"

// memoryListener is the receiving end at one address of a Memory. Every link
// belongs to the listener that it reached.
type memoryListener struct {
	network *Memory
	addr    string
	handler Handler
	member  *Member // who listens; nil if it never joined

	// closing and links are guarded by network.mu.
	closing bool
	links   map[*memoryLink]struct{} // until their run has ended
	// running counts the links' goroutines, the judgements about who dials,
	// and calls of Refusals. It grows only with network.mu held and closing
	// false, so a Wait after closing was set misses none.
	running sync.WaitGroup
}

// Close implements what Network.Listen says of it.
func (ln *memoryListener) Close() error {
	ln.network.mu.Lock()
	ln.shutLocked()
	ln.network.mu.Unlock()
	ln.running.Wait()

	ln.network.mu.Lock()
	defer ln.network.mu.Unlock()
	// A second Close may come when the address already has its next listener.
	if ln.network.listeners[ln.addr] == ln {
		delete(ln.network.listeners, ln.addr)
	}
	return nil
}

// shutLocked takes no more links, breaks those there are, and ends the dials on
// their way; network.mu is held. The address stays taken until the last Receive
// has returned, so that the handlers of two listeners never run at the same
// time.
func (ln *memoryListener) shutLocked() {
	ln.closing = true
	for link := range ln.links {
		link.fail("its listener closed")
	}
	ln.network.wakeDialsLocked()
}

// startLocked begins to deliver what link carries; network.mu is held and
// closing is false.
func (ln *memoryListener) startLocked(link *memoryLink) {
	ln.links[link] = struct{}{}
	ln.running.Add(1)
	go func() {
		defer ln.running.Done()
		link.run(ln.handler)
		ln.network.mu.Lock()
		defer ln.network.mu.Unlock()
		delete(ln.links, link)
	}()
}
