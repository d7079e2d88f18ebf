package coordinator

import (
	"context"
	"sync"
	"time"
)

// feed hands events to the observers of a node. A nil feed has none.
type feed struct {
	outlets  []*outlet
	carriers []TraceCarrier
}

// feedEndMax is how long a closing node lets its observers be told of the rest.
const feedEndMax = time.Second

// newFeed returns a feed that runs, or nil without observers.
func newFeed(observers []Observer) *feed {
	if len(observers) == 0 {
		return nil
	}
	f := &feed{}
	for _, o := range observers {
		out := &outlet{observer: o, wake: make(chan struct{}, 1), stopped: make(chan struct{})}
		f.outlets = append(f.outlets, out)
		if carrier, ok := o.(TraceCarrier); ok {
			f.carriers = append(f.carriers, carrier)
		}
		go out.run()
	}
	return f
}

// tell never blocks.
func (f *feed) tell(e Event) {
	for _, out := range f.outlets {
		out.put(e)
	}
}

// trace returns what travels of the trace of an acquire, empty for nothing.
func (f *feed) trace(ctx context.Context) string {
	if f == nil {
		return ""
	}
	for _, carrier := range f.carriers {
		if trace := carrier.Trace(ctx); trace != "" {
			return trace
		}
	}
	return ""
}

// end tells the observers of what is left, and waits for them a while.
func (f *feed) end() {
	if f == nil {
		return
	}
	for _, out := range f.outlets {
		out.end()
	}
	patience := time.NewTimer(feedEndMax)
	defer patience.Stop()
	for _, out := range f.outlets {
		select {
		case <-out.stopped:
		case <-patience.C:
			return
		}
	}
}

// outlet is the end of a feed at one observer.
type outlet struct {
	observer Observer
	// wake has room for one: it says that something is there that was not before.
	wake    chan struct{}
	stopped chan struct{} // closed by the goroutine at its end

	mu      sync.Mutex
	waiting []Event
	dropped uint64 // since the last of waiting was put there
	ended   bool
}

// put wakes the observer for the first event alone that waits.
func (out *outlet) put(e Event) {
	out.mu.Lock()
	if out.ended || len(out.waiting) >= ObserverBacklog {
		out.dropped++
		out.mu.Unlock()
		return
	}
	out.waiting = append(out.waiting, e)
	first := len(out.waiting) == 1
	out.mu.Unlock()
	if first {
		out.rouse()
	}
}

func (out *outlet) rouse() {
	select {
	case out.wake <- struct{}{}:
	default:
	}
}

func (out *outlet) end() {
	out.mu.Lock()
	out.ended = true
	out.mu.Unlock()
	out.rouse()
}

// run is the goroutine of the observer. It ends when the feed does.
func (out *outlet) run() {
	defer close(out.stopped)
	var events []Event
	for range out.wake {
		for {
			var dropped uint64
			var ended bool
			events, dropped, ended = out.take(events)
			for i, e := range events {
				out.observer.Observe(e)
				events[i] = nil
			}
			if dropped > 0 {
				out.observer.Observe(&Dropped{dropped})
			}
			if len(events) > 0 {
				continue // what has come meanwhile
			}
			if ended {
				return
			}
			break
		}
	}
}

// take empties the outlet into spare, whose memory is used again.
func (out *outlet) take(spare []Event) (events []Event, dropped uint64, ended bool) {
	out.mu.Lock()
	defer out.mu.Unlock()
	events, dropped = out.waiting, out.dropped
	out.waiting, out.dropped = spare[:0], 0
	return events, dropped, out.ended
}
