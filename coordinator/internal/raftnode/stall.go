package raftnode

import "time"

// stall finds out that a leader's own apply loop stands still, behind a slow
// disk or a Sink that blocks. Such a leader goes on leading, because the
// engine's log does not need the loop, but it does not see who was heard from:
// what it proposes names old batches and does nothing, for ever. Somebody else
// has to lead then.
//
// It counts by the runtime's clock, which stands still while the machine is
// suspended: a jump of the other clock must not look like a stall.
type stall struct {
	watching bool
	applied  uint64    // applied index when watching began
	since    time.Time // when watching began
	succession
}

// stands reports whether nothing was applied here for bound, although
// something was proposed all the while.
func (s *stall) stands(now time.Time, proposed bool, applied uint64, bound time.Duration) bool {
	if !proposed && !s.watching {
		return false
	}
	if !s.watching || applied != s.applied {
		s.watching, s.applied, s.since = proposed, applied, now
		return false
	}
	if now.Sub(s.since) < bound {
		return false
	}
	s.since = now // the next one is asked after another bound
	return true
}
