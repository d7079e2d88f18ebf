package statemachine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/palisade-go/palisade/token"
)

// model is the lock machine once more, as plainly as the design says it: one
// slice of requests in the order of arrival, and a search through all of it
// for every question. It shares nothing with the machine but the types of
// batches and events.
type model struct {
	meta      Meta
	presences []Presence // by node
	requests  []asked    // by Place
	events    []Event
}

type asked struct {
	Acquire
	id    LeaseID
	token token.Token // zero: in line
	last  BatchNumber
	place uint64
	since int64
}

// newModel returns the model of testGenesis.
func newModel() *model {
	m := &model{meta: Meta{Version: 1}}
	for _, node := range testGenesis.Members {
		m.presences = append(m.presences, Presence{Node: node})
	}
	return m
}

func (m *model) apply(index Index, b Batch) []Event {
	m.meta.Applied, m.events = index, nil
	p := &Presence{}
	if b.Node != 0 {
		if p = m.presence(b.Node); p == nil || !m.admitted(p, b) {
			return m.events
		}
		m.say(Applied{b.Node, b.Incarnation, b.Number})
	}
	version := m.meta.Version
	for i, c := range b.Commands {
		if m.meta.Version != version {
			m.say(Refused{b.Node, b.Incarnation, b.Number, i, 0, RefusedInvalid, nil})
			continue
		}
		refuse := func(seq Seq, why RefuseReason, holders []Holder) {
			m.say(Refused{b.Node, b.Incarnation, b.Number, i, seq, why, holders})
		}
		mine := func(seq Seq) LeaseID { return LeaseID{b.Node, b.Incarnation, seq} }
		_, unknown := c.(Unknown)
		switch c := c.(type) {
		case Acquire:
			if b.Node != 0 && !p.Left {
				m.acquire(p, c, refuse)
				continue
			}
		case Cancel:
			if b.Node != 0 && !p.Left {
				m.end(0, func(r asked) (EndReason, bool) {
					if r.token == 0 {
						return EndCancelled, r.id == mine(c.Seq)
					}
					return EndReleased, r.id == mine(c.Seq)
				})
				continue
			}
		case Release:
			if b.Node != 0 && !p.Left {
				m.end(0, func(r asked) (EndReason, bool) { return EndReleased, r.id == mine(c.Seq) && r.token != 0 })
				continue
			}
		case Leave:
			if b.Node != 0 && !p.Left {
				p.Left = true
				continue
			}
		case Expire:
			if b.Node == 0 {
				p := m.presence(c.Node)
				if p != nil && p.Incarnation == c.Incarnation && p.Last == c.Last && !p.Left {
					m.end(SliceMax, func(r asked) (EndReason, bool) {
						return EndExpired, r.id.Node == c.Node && r.id.Incarnation == c.Incarnation && r.TTL <= c.TTL
					})
				}
				continue
			}
		case ExpireLimit:
			if b.Node == 0 {
				m.end(0, func(r asked) (EndReason, bool) {
					return EndLimit, r.id == c.Lease && r.token != 0 && r.Limit > 0
				})
				continue
			}
		case Sweep:
			if b.Node == 0 {
				m.end(SliceMax, func(r asked) (EndReason, bool) {
					return EndSwept, r.id.Node == c.Node && m.gone(r.id)
				})
				continue
			}
		case Upgrade:
			if b.Node == 0 {
				if !slices.ContainsFunc(m.presences, func(p Presence) bool {
					return p.Incarnation == 0 || p.Speaks < c.Version
				}) {
					m.meta.Version = max(m.meta.Version, c.Version)
				}
				continue
			}
		}
		a, _ := c.(Acquire)
		if unknown {
			refuse(0, RefusedVersion, nil)
		} else {
			refuse(a.Seq, RefusedInvalid, nil)
		}
	}
	return m.events
}

func (m *model) say(e Event) { m.events = append(m.events, e) }

func (m *model) presence(node NodeID) *Presence {
	i := slices.IndexFunc(m.presences, func(p Presence) bool { return p.Node == node })
	if i < 0 {
		return nil
	}
	return &m.presences[i]
}

func (m *model) admitted(p *Presence, b Batch) bool {
	reason := RejectReason(0)
	switch {
	case p.Incarnation > 0 && b.Directory != p.Directory:
		reason = RejectedDirectory
	case b.Incarnation < p.Incarnation:
		reason = RejectedSuperseded
	case b.Incarnation == p.Incarnation && p.Left:
		reason = RejectedLeft
	case b.Incarnation == 0, b.Number == 0, b.Incarnation == p.Incarnation && b.Number <= p.Last:
		return false
	}
	if reason != 0 {
		m.say(Rejected{b.Node, b.Directory, b.Incarnation, b.Number, reason, *p})
		return false
	}
	*p = Presence{b.Node, b.Directory, b.Incarnation, b.Number, b.Speaks, false, b.Wall}
	return true
}

// gone says whether the incarnation of the request is over or has left.
func (m *model) gone(id LeaseID) bool {
	p := m.presence(id.Node)
	return id.Incarnation < p.Incarnation || p.Left
}

func (m *model) acquire(p *Presence, c Acquire, refuse func(Seq, RefuseReason, []Holder)) {
	id := LeaseID{p.Node, p.Incarnation, c.Seq}
	sorted := slices.IsSortedFunc(c.Claims, func(a, b Claim) int { return cmp.Compare(a.Key, b.Key) })
	distinct := len(slices.Compact(slices.Clone(c.Claims))) == len(c.Claims)
	if slices.ContainsFunc(m.requests, func(r asked) bool { return r.id == id }) ||
		len(c.Claims) == 0 || !sorted || !distinct || c.TTL <= 0 || c.Limit < 0 || c.Seq == 0 ||
		slices.ContainsFunc(c.Claims, func(c Claim) bool { return c.Key == "" || c.Mode != Exclusive }) {
		refuse(c.Seq, RefusedInvalid, nil)
		return
	}
	var holders []Holder
	free, full := true, false
	for _, claim := range c.Claims {
		waiters := 0
		for _, r := range m.requests {
			if !r.claims(claim.Key) {
				continue
			}
			free = false
			if r.token == 0 {
				waiters++
			} else {
				holders = append(holders, Holder{r.id, claim.Key, r.token, r.since, r.RequestID, r.Metadata, r.TTL})
			}
		}
		full = full || c.QueueMax > 0 && waiters >= int(c.QueueMax)
	}
	switch {
	case !free && !c.Wait:
		refuse(c.Seq, RefusedBusy, holders)
	case !free && full:
		refuse(c.Seq, RefusedQueueFull, holders)
	case m.meta.Counter == token.CounterMax:
		refuse(c.Seq, RefusedExhausted, nil)
	default:
		m.meta.Place++
		m.requests = append(m.requests, asked{Acquire: c, id: id, place: m.meta.Place, since: p.Wall})
		if !free {
			m.say(Queued{id})
		}
		m.wake()
	}
}

func (r asked) claims(key string) bool {
	return slices.ContainsFunc(r.Claims, func(c Claim) bool { return c.Key == key })
}

// end ends the requests that which picks, the oldest first and at most limit
// (0: all), and only then wakes.
func (m *model) end(limit int, which func(asked) (EndReason, bool)) {
	ended := 0
	m.requests = slices.DeleteFunc(m.requests, func(r asked) bool {
		reason, ends := which(r)
		if !ends || limit > 0 && ended == limit {
			return false
		}
		ended++
		m.say(Ended{r.id, reason, r.token == 0})
		return true
	})
	m.wake()
}

// wake grants, the earliest first, every request in line that nothing ahead of
// it and no holder stands in the way of.
func (m *model) wake() {
	for i := range m.requests {
		r := &m.requests[i]
		if r.token != 0 || m.meta.Counter == token.CounterMax {
			continue
		}
		if slices.ContainsFunc(m.requests, func(o asked) bool {
			return (o.token != 0 || o.place < r.place) &&
				slices.ContainsFunc(r.Claims, func(c Claim) bool { return o.claims(c.Key) })
		}) {
			continue
		}
		m.meta.Counter++
		r.token, _ = token.New(m.meta.Epoch, m.meta.Counter)
		if p := m.presence(r.id.Node); p.Incarnation == r.id.Incarnation {
			r.last, r.since = p.Last, p.Wall
		}
		m.say(Granted{r.id, r.token, r.last})
	}
}

// dump writes the state as Machine.Dump does.
func (m *model) dump() string {
	var out strings.Builder
	fmt.Fprintf(&out, "meta group=1 applied=%d epoch=%d counter=%d version=%d place=%d\n",
		m.meta.Applied, m.meta.Epoch, m.meta.Counter, m.meta.Version, m.meta.Place)
	for _, p := range m.presences {
		if p.Incarnation == 0 {
			fmt.Fprintf(&out, "presence %d not announced\n", p.Node)
			continue
		}
		fmt.Fprintf(&out, "presence %d incarnation=%d last=%d speaks=%d directory=%v", p.Node, p.Incarnation, p.Last, p.Speaks, p.Directory)
		fmt.Fprintln(&out, tail(" left", p.Left)+tail(fmt.Sprintf(" wall=%d", p.Wall), p.Wall != 0))
	}
	type line struct{ holder, waiters string }
	keys := make(map[string]line)
	byID := slices.SortedFunc(slices.Values(m.requests), func(a, b asked) int {
		return cmp.Or(cmp.Compare(a.id.Node, b.id.Node), cmp.Compare(a.id.Incarnation, b.id.Incarnation), cmp.Compare(a.id.Seq, b.id.Seq))
	})
	for _, r := range byID {
		if r.token == 0 {
			fmt.Fprintf(&out, "wait %v", r.id)
		} else {
			fmt.Fprintf(&out, "lease %v token=%d last=%d", r.id, r.token, r.last)
		}
		fmt.Fprintf(&out, " place=%d ttl=%v", r.place, r.TTL)
		for _, c := range r.Claims {
			fmt.Fprintf(&out, " %q", c.Key)
		}
		fmt.Fprintln(&out, tail(fmt.Sprintf(" limit=%v", r.Limit), r.Limit != 0)+tail(fmt.Sprintf(" since=%d", r.since), r.since != 0)+
			tail(fmt.Sprintf(" request=%q", r.RequestID), r.RequestID != "")+tail(fmt.Sprintf(" metadata=%q", r.Metadata), r.Metadata != ""))
	}
	var names []string
	for _, r := range m.requests {
		for _, c := range r.Claims {
			k, known := keys[c.Key]
			if !known {
				names = append(names, c.Key)
			}
			if r.token != 0 {
				k.holder = fmt.Sprintf(" holder=%v", r.id)
			} else {
				k.waiters += fmt.Sprintf(" %v", r.id)
			}
			keys[c.Key] = k
		}
	}
	slices.Sort(names)
	for _, name := range names {
		k := keys[name]
		fmt.Fprintln(&out, fmt.Sprintf("key %q", name)+cmp.Or(k.holder, " not held")+tail(" waiters"+k.waiters, k.waiters != ""))
	}
	return out.String()
}

func tail(text string, present bool) string {
	if present {
		return text
	}
	return ""
}
