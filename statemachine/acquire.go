package statemachine

import (
	"slices"

	"github.com/palisade-go/palisade/token"
)

// acquire grants the request, puts it in line or refuses it. The order of the
// tests is part of the rules: what is wrong with the command itself comes
// first, then whether it is free, then the reasons not to wait.
func (m *Machine) acquire(p *member, c Acquire, at refusal) {
	if !c.wellFormed() {
		m.refuse(at, RefusedInvalid)
		return
	}
	if _, used := p.present.requests.get(c.Seq); used {
		m.refuse(at, RefusedInvalid)
		return
	}
	free, full := m.look(c)
	switch {
	case !free && !c.Wait:
		at.holders = m.holders(c.Claims)
		m.refuse(at, RefusedBusy)
	case full:
		at.holders = m.holders(c.Claims)
		m.refuse(at, RefusedQueueFull)
	case m.exhausted():
		// Also for one that would wait: its turn could never come.
		m.refuse(at, RefusedExhausted)
	default:
		r := m.arrive(p, c)
		if free {
			m.grant(r)
		}
		claims := r.claims()
		for i := range claims {
			m.join(&claims[i])
		}
		if free {
			return
		}
		m.waits++
		m.changes.request(r)
		m.emit(Queued{Lease: r.id()})
	}
}

// look says whether all keys are free of holders and waiters, and whether a
// queue is as long as the request allows.
func (m *Machine) look(c Acquire) (free, full bool) {
	free = true
	for _, claim := range c.Claims {
		front, taken := m.keys.get(claim.Key)
		if !taken {
			continue
		}
		free = false
		if c.QueueMax > 0 && uint64(front.waiters) >= c.QueueMax {
			full = true
		}
	}
	return free, full
}

// holders returns the leases on the keys, in the order of the claims.
func (m *Machine) holders(claims []Claim) []Holder {
	var holders []Holder
	for _, claim := range claims {
		if front, taken := m.keys.get(claim.Key); taken && front.isHeld() {
			holders = append(holders, front.holder())
		}
	}
	return holders
}

// arrive makes the request, with the next place, known to its owner.
func (m *Machine) arrive(p *member, c Acquire) *request {
	m.meta.Place++
	r := newRequest(len(c.Claims), texts{c.Limit, c.RequestID, c.Metadata})
	r.seq = c.Seq
	r.place = m.meta.Place
	r.since = p.presence.Wall
	for i, claim := range c.Claims {
		r.claims()[i] = stand{request: r, name: claim.Key, mode: claim.Mode}
	}
	p.present.add(r, c.TTL)
	return r
}

// exhausted says that the group can't issue another token. It stays so: a
// counter never wraps, and only a higher epoch begins a new one.
func (m *Machine) exhausted() bool {
	return m.meta.Counter >= token.CounterMax || m.meta.Epoch > token.EpochMax
}

// grant makes r a lease with the next token; the caller gives it its keys, which
// must not be held. The counter must not be exhausted. The lease remembers the last
// batch and the wall clock of the owner's presence; an incarnation that is
// gone has no presence any more, and its lease, which the next sweep ends,
// remembers no batch.
func (m *Machine) grant(r *request) {
	tok, err := token.New(m.meta.Epoch, m.meta.Counter+1)
	if err != nil {
		broken("grant to %v: %w", r.id(), err)
	}
	m.meta.Counter++
	r.token = tok
	r.phase = held
	if o := r.bucket.owner; o == o.member.present {
		r.last = o.member.presence.Last
		r.since = o.member.presence.Wall
	}
	m.leases++
	m.changes.request(r)
	m.emit(Granted{Lease: r.id(), Token: tok, Last: r.last})
}

// wake grants, in the order of their places, the requests whose turn has come
// on all their keys since the command began. Nobody else can be granted: a
// request waits until it is at the head of every queue, and each change of a
// head notes the new one. When the token counter has come to its end they stay
// in line, at their places, until they are cancelled or end.
func (m *Machine) wake() {
	if len(m.ready) == 0 {
		return
	}
	slices.SortFunc(m.ready, byPlace)
	for _, r := range m.ready {
		// It may have been ready for a moment only, and have ended since.
		if r.phase != waiting || m.exhausted() {
			continue
		}
		m.waits--
		m.grant(r)
		claims := r.claims()
		for i := range claims {
			m.hand(&claims[i])
		}
	}
	clear(m.ready)
	m.ready = m.ready[:0]
}
