package expiry

import (
	"math"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
)

// longest bounds the durations that are added to instants, so that twice of
// one never overflows. A TTL comes out of the log, where a faulty node may
// have put any number.
const longest = time.Duration(math.MaxInt64 / 8)

// deadline returns when the requests of a node with the given TTL are due to
// end: a node heard from at heard, in an office taken at office.
//
// A holder's own window ends 0.9*T after it sent the batch that this replica
// applied at heard, so heard+T is late enough as long as this replica could
// hear the node. After a change of leader it may not have been able to: the
// node gets T/2 from the taking of office to be heard again. The cap of
// heard+2T keeps a dead owner from living on through election after election
// (G6).
//
// Taking office anew at o turns a deadline d into min(max(d, o+T/2),
// heard+2T). Taken repeatedly at o1 < o2 < … this is min(max(heard+T, o1+T/2,
// o2+T/2, …), heard+2T), because the cap is the same each time and so can be
// applied once, at the end; and of the offices only the last one counts,
// because it is the latest. A batch heard in office makes heard+T the greater
// term by itself. So heard and the last office are all there is to keep.
func deadline(heard, office clock.Instant, ttl time.Duration) clock.Instant {
	ttl = min(ttl, longest)
	return min(max(heard.Add(ttl), office.Add(ttl/2)), heard.Add(2*ttl))
}
