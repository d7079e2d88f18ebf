package keeper

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/statemachine"
)

// WakeMax is the longest time between two looks at the clock while anything
// is kept, so that loss is signalled soon after a suspension.
const WakeMax = time.Second

// Window returns how long a lease or limit of length d may be trusted,
// counted from the first send of the batch that it rests on: 0.9*d.
func Window(d time.Duration) time.Duration { return d - d/10 }

// Over says that a lease or wait is not to be trusted any longer.
type Over struct {
	Seq    statemachine.Seq
	Reason Reason
}

// Reason says which end was reached.
type Reason uint8

// The reasons why a window is over.
const (
	TTLPassed   Reason = iota + 1 // the group was not heard for 0.9*T
	LimitPassed                   // the holder's own limit
)

// entry is one lease or wait.
type entry struct {
	seq   statemachine.Seq
	ttl   time.Duration
	limit time.Duration // 0: none
	// end and place are used only of leases with a limit: when its window
	// ends, and where the entry stands in limits.
	end     clock.Instant
	place   int
	limited bool
}

// Keeper watches the windows of one group.
type Keeper struct {
	entries map[statemachine.Seq]*entry
	// classes holds the entries of each TTL: all of one TTL end together.
	classes map[time.Duration]map[statemachine.Seq]struct{}
	ttls    durations // the keys of classes
	paces   durations // the TTLs and limits of all entries
	limits  limits

	heard    clock.Instant // first send of the last batch seen applied
	hasHeard bool
	sent     clock.Instant // first send of the last batch
	hasSent  bool
	renewNow bool
	failing  bool
}

// New returns a Keeper that keeps nothing.
func New() *Keeper {
	return &Keeper{
		entries: map[statemachine.Seq]*entry{},
		classes: map[time.Duration]map[statemachine.Seq]struct{}{},
	}
}

// Heard notes that a batch first sent at send was seen applied. It reports
// whether renewing had been failing until now.
func (k *Keeper) Heard(send clock.Instant) (recovered bool) {
	if !k.hasHeard || send > k.heard {
		k.heard, k.hasHeard = send, true
	}
	recovered = k.failing
	k.failing = false
	return recovered
}

// HeardAt returns the instant that windows count from; false before the
// first batch was seen applied.
func (k *Keeper) HeardAt() (clock.Instant, bool) { return k.heard, k.hasHeard }

// Sent notes the first send of a new batch.
func (k *Keeper) Sent(now clock.Instant) { k.sent, k.hasSent, k.renewNow = now, true, false }

// Failed notes that an attempt failed. It reports whether it is the first
// since a batch was last seen applied.
func (k *Keeper) Failed() (first bool) {
	first = !k.failing
	k.failing = true
	return first
}

// Hurry makes a renewal due at once: the leader changed, and the new one
// should hear of this node.
func (k *Keeper) Hurry() { k.renewNow = true }

// Usable reports whether a lease granted with these numbers has any window
// left. grantSend is the first send of the batch that its record names.
func (k *Keeper) Usable(now clock.Instant, ttl, limit time.Duration, grantSend clock.Instant) bool {
	if !k.hasHeard || now >= k.heard.Add(Window(ttl)) {
		return false
	}
	return limit == 0 || now < grantSend.Add(Window(limit))
}

// Hold keeps a lease. With a limit, grantSend is the first send of the batch
// that the lease record names. A wait with that seq becomes the lease. It
// returns when the limit's window ends; zero without a limit.
func (k *Keeper) Hold(seq statemachine.Seq, ttl, limit time.Duration, grantSend clock.Instant) clock.Instant {
	e := &entry{seq: seq, ttl: ttl, limit: limit}
	if limit > 0 {
		e.end, e.limited = grantSend.Add(Window(limit)), true
	}
	k.add(e)
	return e.end
}

// Wait keeps a request in line. Its limit counts only once it is a lease.
func (k *Keeper) Wait(seq statemachine.Seq, ttl, limit time.Duration) {
	k.add(&entry{seq: seq, ttl: ttl, limit: limit})
}

func (k *Keeper) add(e *entry) {
	k.Drop(e.seq)
	k.entries[e.seq] = e
	class := k.classes[e.ttl]
	if class == nil {
		class = map[statemachine.Seq]struct{}{}
		k.classes[e.ttl] = class
	}
	class[e.seq] = struct{}{}
	k.ttls.add(e.ttl, 1)
	k.paces.add(e.ttl, 1)
	if e.limit > 0 {
		k.paces.add(e.limit, 1)
	}
	if e.limited {
		k.limits.insert(e)
	}
}

// Drop forgets a lease or wait; unknown ones are ignored.
func (k *Keeper) Drop(seq statemachine.Seq) {
	e, ok := k.entries[seq]
	if !ok {
		return
	}
	delete(k.entries, seq)
	delete(k.classes[e.ttl], seq)
	if len(k.classes[e.ttl]) == 0 {
		delete(k.classes, e.ttl)
	}
	k.ttls.add(e.ttl, -1)
	k.paces.add(e.ttl, -1)
	if e.limit > 0 {
		k.paces.add(e.limit, -1)
	}
	if e.limited {
		k.limits.remove(e)
	}
	if len(k.entries) == 0 {
		// Maps and slices keep the room of their largest size.
		k.entries, k.limits = map[statemachine.Seq]*entry{}, nil
	}
}

// Pace returns the smallest TTL or limit kept; 0: nothing is kept.
func (k *Keeper) Pace() time.Duration { return k.paces.shortest() }

// TakeOver forgets and returns, by rising seq, all whose window is over. The
// end of the TTL's window names the reason where both have passed.
func (k *Keeper) TakeOver(now clock.Instant) []Over {
	var over []Over
	for _, c := range k.ttls {
		if !k.hasHeard || now < k.heard.Add(Window(c.d)) {
			break
		}
		for seq := range k.classes[c.d] {
			over = append(over, Over{seq, TTLPassed})
		}
	}
	for _, o := range over {
		k.Drop(o.Seq)
	}
	for len(k.limits) > 0 && now >= k.limits[0].end {
		seq := k.limits[0].seq
		k.Drop(seq)
		over = append(over, Over{seq, LimitPassed})
	}
	slices.SortFunc(over, func(a, b Over) int { return cmp.Compare(a.Seq, b.Seq) })
	return over
}

// atOnce is earlier than every instant that a clock shows.
const atOnce clock.Instant = math.MinInt64

// RenewAt returns when a batch has to go out to keep the presence alive; an
// instant that has passed means now. False: nothing is kept.
func (k *Keeper) RenewAt() (clock.Instant, bool) {
	p := k.Pace()
	switch {
	case p == 0:
		return 0, false
	case k.renewNow || !k.hasSent:
		return atOnce, true
	}
	return k.sent.Add(p / 4), true
}

// Next returns when TakeOver is wanted again; false: nothing is kept.
func (k *Keeper) Next(now clock.Instant) (clock.Instant, bool) {
	p := k.Pace()
	if p == 0 {
		return 0, false
	}
	next := now.Add(min(p/16, WakeMax))
	if k.hasHeard {
		next = min(next, k.heard.Add(Window(k.ttls.shortest())))
	}
	if len(k.limits) > 0 {
		next = min(next, k.limits[0].end)
	}
	return next, true
}
