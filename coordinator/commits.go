package coordinator

import (
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/hub"
	"github.com/palisade-go/palisade/statemachine"
)

// sent is a batch that was not seen applied yet.
type sent struct {
	at       clock.Instant // of the first attempt
	bytes    int
	attempts int
}

// commits follows the batches of a group for the observers of its node. Its zero
// value is ready.
type commits map[statemachine.BatchNumber]sent

// sending notes an attempt.
func (c *commits) sending(s hub.Send, now clock.Instant) {
	if *c == nil {
		*c = make(commits)
	}
	batch, again := (*c)[s.Number]
	if !again {
		batch = sent{at: now, bytes: len(s.Data)}
	}
	batch.attempts = s.Attempt
	(*c)[s.Number] = batch
}

// applied takes out what is known of a batch that was seen applied, and forgets
// those before it: they were applied under a snapshot, or never will be.
func (c commits) applied(number statemachine.BatchNumber) (batch sent, known bool) {
	batch, known = c[number]
	for other := range c {
		if other <= number {
			delete(c, other)
		}
	}
	return batch, known
}

// committed tells the observers of the batches of this node that events show to be
// applied.
func (g *group) committed(events []statemachine.Event, now clock.Instant) {
	if g.feed == nil {
		return
	}
	for _, e := range events {
		e, ok := e.(statemachine.Applied)
		if !ok || e.Node != g.self.Node || e.Incarnation != g.self.Incarnation {
			continue
		}
		if batch, known := g.commits.applied(e.Number); known {
			g.feed.tell(&Committed{At: time.Now(), Group: int(g.id), Bytes: batch.bytes, Took: now.Sub(batch.at), Attempts: batch.attempts})
		}
	}
}
