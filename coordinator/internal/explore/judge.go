package explore

import (
	"fmt"
	"strings"

	"github.com/palisade-go/palisade/statemachine"
)

// judge says what an entry did, and which guarantee it broke: those that can
// be told from the entry and the states around it.
func judge(e *entry, before, after *machine, batch statemachine.Batch) {
	fail := func(format string, args ...any) {
		if e.broken == "" {
			e.broken = fmt.Sprintf(format, args...)
		}
	}
	judgeNumber(e, before, batch)
	applied := false
	for _, event := range e.events {
		switch event := event.(type) {
		case statemachine.Applied:
			applied = true
			known, _ := before.Presence(event.Node)
			if event.Incarnation < known.Incarnation || event.Incarnation == known.Incarnation && event.Number <= known.Last {
				fail("G9: batch %d of %d.%d applied after batch %d", event.Number, event.Node, event.Incarnation, known.Last)
			}
		case statemachine.Rejected:
			e.notes.add(Superseded)
		case statemachine.Granted:
			judgeGrant(event, before, after, fail)
		case statemachine.Ended:
			e.notes.add(endNote[event.Reason])
			judgeEnd(event, before, batch, fail)
		}
	}
	if batch.Node != 0 && !applied && e.before != e.after {
		fail("G9: a batch that was not applied changed the state")
	}
	for _, c := range batch.Commands {
		if a, ok := c.(statemachine.Acquire); ok && !a.Wait && applied {
			for _, w := range after.waits {
				if w.RequestID == a.RequestID {
					fail("G7: the try %s stands in line", a.RequestID)
				}
			}
		}
		if c, ok := c.(statemachine.Expire); ok && len(e.events) == 0 {
			if known, _ := before.Presence(c.Node); known.Last != c.Last {
				e.notes.add(ExpireStale)
			}
		}
	}
}

var endNote = map[statemachine.EndReason]Note{
	statemachine.EndReleased: Released, statemachine.EndCancelled: Withdrawn, statemachine.EndExpired: Expired,
	statemachine.EndLimit: LimitEnded, statemachine.EndSwept: Swept,
}

// judgeNumber notes a batch that comes once more, or too late.
func judgeNumber(e *entry, before *machine, batch statemachine.Batch) {
	known, _ := before.Presence(batch.Node)
	if batch.Node == 0 || batch.Incarnation != known.Incarnation {
		return
	}
	switch {
	case batch.Number == known.Last:
		e.notes.add(Repeated)
	case batch.Number < known.Last:
		e.notes.add(Overtaken)
	}
}

// judgeGrant: G7, nobody is passed; G8, all keys or none.
func judgeGrant(event statemachine.Granted, before, after *machine, fail func(string, ...any)) {
	var lease *statemachine.Lease
	for i := range after.leases {
		if after.leases[i].ID == event.Lease {
			lease = &after.leases[i]
		}
	}
	if lease == nil {
		return // it ended in the same entry
	}
	if keys := keysOf(lease.Claims); keys != lease.Metadata {
		fail("G8: %v has the keys %s and asked for %s", lease.ID, keys, lease.Metadata)
	}
	for _, c := range lease.Claims {
		if holder, _ := after.Holder(c.Key); holder.Lease != lease.ID {
			fail("G8: %v was granted %s, which %v holds", lease.ID, c.Key, holder.Lease)
		}
		for _, w := range before.waits {
			stillWaits := false
			for _, still := range after.waits {
				stillWaits = stillWaits || still.ID == w.ID
			}
			if stillWaits && w.Place < lease.Place && strings.Contains(keysOf(w.Claims), c.Key) {
				fail("G7: %v was granted %s before %v, which came first", lease.ID, c.Key, w.ID)
			}
		}
	}
}

// judgeEnd: G4, an expiry ends only what it saw; and nobody ends what is not
// their own.
func judgeEnd(event statemachine.Ended, before *machine, batch statemachine.Batch, fail func(string, ...any)) {
	if batch.Node != 0 {
		if event.Lease.Node != batch.Node || event.Lease.Incarnation != batch.Incarnation {
			fail("node %d.%d ended %v", batch.Node, batch.Incarnation, event.Lease)
		}
		return
	}
	if event.Reason != statemachine.EndExpired {
		return
	}
	known, _ := before.Presence(event.Lease.Node)
	for _, c := range batch.Commands {
		if c, ok := c.(statemachine.Expire); ok && c.Node == event.Lease.Node && c.Incarnation == known.Incarnation && c.Last == known.Last {
			return
		}
	}
	fail("G4: %v expired, and batch %d of its node is newer than what the leader saw", event.Lease, known.Last)
}

func keysOf(claims []statemachine.Claim) string {
	var keys strings.Builder
	for _, c := range claims {
		keys.WriteString(c.Key)
	}
	return keys.String()
}
