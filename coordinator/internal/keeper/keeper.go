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

// limited is a lease or wait that has a limit.
type limited struct {
	seq        statemachine.Seq
	ttl, limit time.Duration
	// The rest is that of a lease: when its window ends, and where it stands in
	// limits.
	held  bool
	end   clock.Instant
	place int
}

// Keeper watches the windows of one group. There can be a million, so what it
// keeps of one without a limit is no more than its seq.
type Keeper struct {
	// classes holds the leases and waits of each TTL: all of one TTL end
	// together.
	classes map[time.Duration]map[statemachine.Seq]struct{}
	limited map[statemachine.Seq]*limited
	ttls    durations // the keys of classes
	paces   durations // the TTLs and limits of all
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
		classes: map[time.Duration]map[statemachine.Seq]struct{}{},
		limited: map[statemachine.Seq]*limited{},
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
// that the lease record names. A wait with that seq, which has the same TTL,
// becomes the lease. It returns when the limit's window ends; zero without a
// limit.
func (k *Keeper) Hold(seq statemachine.Seq, ttl, limit time.Duration, grantSend clock.Instant) clock.Instant {
	k.add(seq, ttl, limit)
	if limit == 0 {
		return 0
	}
	l := k.limited[seq]
	l.held, l.end = true, grantSend.Add(Window(limit))
	k.limits.insert(l)
	return l.end
}

// Wait keeps a request in line. Its limit counts only once it is a lease.
func (k *Keeper) Wait(seq statemachine.Seq, ttl, limit time.Duration) { k.add(seq, ttl, limit) }

func (k *Keeper) add(seq statemachine.Seq, ttl, limit time.Duration) {
	k.Drop(seq, ttl)
	class := k.classes[ttl]
	if class == nil {
		class = map[statemachine.Seq]struct{}{}
		k.classes[ttl] = class
	}
	class[seq] = struct{}{}
	k.ttls.add(ttl, 1)
	k.paces.add(ttl, 1)
	if limit > 0 {
		k.limited[seq] = &limited{seq: seq, ttl: ttl, limit: limit}
		k.paces.add(limit, 1)
	}
}

// Drop forgets the lease or wait with that seq and TTL; what is not kept is
// ignored.
func (k *Keeper) Drop(seq statemachine.Seq, ttl time.Duration) {
	class := k.classes[ttl]
	if _, kept := class[seq]; !kept {
		return
	}
	delete(class, seq)
	if len(class) == 0 {
		// Maps and slices keep the room of their largest size.
		delete(k.classes, ttl)
	}
	k.ttls.add(ttl, -1)
	k.paces.add(ttl, -1)
	if l, ok := k.limited[seq]; ok {
		k.dropLimit(l)
	}
}

func (k *Keeper) dropLimit(l *limited) {
	k.paces.add(l.limit, -1)
	if l.held {
		k.limits.remove(l)
	}
	delete(k.limited, l.seq)
	if len(k.limited) == 0 {
		k.limited, k.limits = map[statemachine.Seq]*limited{}, nil
	}
}

// Pace returns the smallest TTL or limit kept; 0: nothing is kept.
func (k *Keeper) Pace() time.Duration { return k.paces.shortest() }

// TakeOver forgets and returns, by rising seq, all whose window is over. The
// end of the TTL's window names the reason where both have passed.
func (k *Keeper) TakeOver(now clock.Instant) []Over {
	var over []Over
	for len(k.ttls) > 0 && k.hasHeard && now >= k.heard.Add(Window(k.ttls.shortest())) {
		ttl := k.ttls.shortest()
		for seq := range k.classes[ttl] {
			over = append(over, Over{seq, TTLPassed})
			k.Drop(seq, ttl)
		}
	}
	for len(k.limits) > 0 && now >= k.limits[0].end {
		l := k.limits[0]
		k.Drop(l.seq, l.ttl)
		over = append(over, Over{l.seq, LimitPassed})
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
