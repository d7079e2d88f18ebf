package transport

import (
	"sync"
	"time"
)

// paceLength is how often one sort of event is logged at most.
const paceLength = 10 * time.Second

// pace keeps events that others can cause at will from flooding a log. Its
// zero value is ready; its method is safe for concurrent use. It remembers
// each sort for ever, so sorts must come from a small set.
type pace struct {
	mu    sync.Mutex
	sorts map[string]*paced
}

type paced struct {
	last    time.Time
	skipped int
}

// pass says whether an event of a sort is to be logged now, and how many were
// not since the last that was.
func (p *pace) pass(sort string, now time.Time) (skipped int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := p.sorts[sort]
	switch {
	case of == nil:
		if p.sorts == nil {
			p.sorts = make(map[string]*paced)
		}
		p.sorts[sort] = &paced{last: now}
		return 0, true
	case now.Sub(of.last) < paceLength:
		of.skipped++
		return 0, false
	}
	skipped = of.skipped
	of.last, of.skipped = now, 0
	return skipped, true
}
