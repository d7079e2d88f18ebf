package dashboard

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/palisade-go/palisade/coordinator"
)

// Options say what is shown, and to whom. The zero value of a field means its
// default.
type Options struct {
	// Authorize is asked for every request; an error is answered by 403, and is not
	// shown. Default: whoever can reach the handler may read.
	Authorize func(*http.Request) error
	// ShowMetadata shows the metadata of leases and waiters, which may be private.
	// Default: it is left out.
	ShowMetadata bool
}

// Dashboard is the page of one node: an observer of it and a handler. Its methods
// are safe for concurrent use.
type Dashboard struct {
	options Options
	watched atomic.Pointer[watched]
	survey  survey

	mu     sync.Mutex
	memory memory
}

// watched is the node, and since when it is watched.
type watched struct {
	node  *coordinator.Coordinator
	since time.Time
}

// New returns the page of a node that is not open yet.
func New(o Options) *Dashboard {
	return &Dashboard{options: o, memory: newMemory()}
}

// Watch shows what c knows. Call it once, after Open; c may be closed at any time.
func (d *Dashboard) Watch(c *coordinator.Coordinator) {
	d.watched.Store(&watched{c, time.Now()})
}

// Observe implements coordinator.Observer.
func (d *Dashboard) Observe(e coordinator.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.memory.note(e)
}
