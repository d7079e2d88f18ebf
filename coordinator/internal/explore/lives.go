package explore

import (
	"bytes"
	"reflect"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/batcher"
	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/hub"
	"github.com/palisade-go/palisade/coordinator/internal/keeper"
	"github.com/palisade-go/palisade/statemachine"
)

// lives has every process that the search came across, each once, and what
// each input makes of each.
type lives struct {
	book    *book
	t       time.Duration
	sparse  bool
	batches [nodeCount]int
	all     index[life]
	// memo has what came of an input, silenced what comes of one that asks for
	// a batch too many.
	memo, silenced map[input]result
}

// life is a process as others see it.
type life struct {
	*process
	trusts []statemachine.LeaseID // of the callers that take themselves for owners
	gone   []string               // the request ids of calls that ended with nothing
	next   time.Duration          // see process.next
	calm   time.Duration          // the same, with retries in any case
	open   bool                   // something is unsettled
	spent  bool                   // it has used more batches than its share
}

// inputKind is what happens to a process.
type inputKind uint8

const (
	ask      inputKind = iota // arg: the caller
	cancel                    // arg: the caller
	distrust                  // arg: the caller
	hear                      // arg: the entry
	resync                    // arg: the machine
	newLeader
	pass // arg: units of time; the hub looks at its clock
	rest // arg: units of time; nothing of the process runs
)

// input is one that a process is given.
type input struct {
	life uint32
	kind inputKind
	arg  uint32
}

// result is what came of it.
type result struct {
	life uint32
	outcome
}

func newLives(b *book, cfg *Config) *lives {
	return &lives{book: b, t: cfg.T, sparse: cfg.Sparse, batches: cfg.Batches, memo: map[input]result{}, silenced: map[input]result{}}
}

// born returns the number of a new process that has started.
func (l *lives) born(node statemachine.NodeID, incarnation statemachine.Incarnation, asks []Ask, state uint32) result {
	p := newProcess(node, incarnation, asks, l.t)
	p.Hub.Flush(p.Now) // the announcement
	l.input(p, input{kind: resync, arg: state})
	o := p.carryOut(l.book, l.t)
	return result{l.intern(p), o}
}

// give returns what an input makes of a process. bounded says that the process
// may not use more batches than its share.
func (l *lives) give(in input, bounded bool) result {
	r, ok := l.memo[in]
	if !ok {
		r = l.run(in)
		l.memo[in] = r
	}
	if !bounded || !l.all.at(r.life).spent {
		return r
	}
	if r, ok = l.silenced[in]; !ok {
		r = l.silence(in)
		l.silenced[in] = r
	}
	return r
}

func (l *lives) run(in input) result {
	before := l.all.at(in.life)
	p := before.copy()
	switch {
	case !p.Silent:
		l.input(p, in)
	case in.kind == pass || in.kind == rest:
		p.Now = p.Now.Add(time.Duration(in.arg))
	}
	o := p.carryOut(l.book, l.t)
	if in.kind == ask && p.batcher().Pending() > 0 && p.batcher().Room() {
		o.notes.add(HeldBack)
	}
	if in.kind == resync && !p.Silent && len(p.batcher().Flights()) < len(before.batcher().Flights()) {
		o.notes.add(Resynced)
	}
	return result{l.intern(p), o}
}

// silence returns the process as it stands still when the input comes.
func (l *lives) silence(in input) result {
	p := l.all.at(in.life).copy()
	p.Silent = true
	if in.kind == pass || in.kind == rest {
		p.Now = p.Now.Add(time.Duration(in.arg))
	}
	var o outcome
	o.notes.add(Silenced)
	return result{l.intern(p), o}
}

func (l *lives) input(p *process, in input) {
	switch in.kind {
	case ask:
		p.ask(hub.Ref(in.arg+1), l.t)
	case cancel:
		p.cancel(hub.Ref(in.arg + 1))
	case distrust:
		p.distrust(hub.Ref(in.arg + 1))
	case hear:
		p.Hub.Applied(p.seen()+1, l.book.entries[in.arg].events, p.Now)
	case resync:
		m := l.book.machines.at(in.arg)
		presence, _ := m.Presence(p.Node)
		leases, waits := m.Owned(p.Node, presence.Incarnation)
		p.Hub.Installed(hub.State{Index: p.seen() + 1, Presence: presence, Leases: leases, Waits: waits}, p.Now)
	case newLeader:
		p.Hub.LeaderChanged(p.Now)
	case pass:
		p.Now = p.Now.Add(time.Duration(in.arg))
	case rest:
		p.Now = p.Now.Add(time.Duration(in.arg))
		return // nobody looks
	}
	p.Hub.Flush(p.Now)
}

// same says that two processes have one identity. If so they have one number,
// unless all are kept apart.
func (l *lives) same(n, m uint32) bool {
	return n == m || l.all.apart && bytes.Equal(l.identity(l.all.at(n).process), l.identity(l.all.at(m).process))
}

func (l *lives) intern(p *process) uint32 {
	return l.all.intern(l.identity(p), func() *life {
		v := &life{process: p, next: p.next(l.t, l.sparse), calm: p.next(l.t, false), spent: !p.Silent && int(p.batcher().Next())-1 > l.batches[p.Node-1]}
		for i := range p.Callers {
			c := &p.Callers[i]
			if p.trusts(c, l.t) {
				v.trusts = append(v.trusts, c.Lease)
			}
			switch c.Phase {
			case over, refused:
				v.gone = append(v.gone, p.requestID(hub.Ref(i+1)))
			case unasked:
			default:
				v.open = true
			}
		}
		v.open = v.open || p.Hub.Len() > 0 || len(p.batcher().Flights()) > 0 || p.batcher().Pending() > 0
		return v
	})
}

// always are the fields of a process that never matter here.
var always = ignored{
	// cfg is the same for all processes but for the identity, which the
	// process has too. seen moves with the log, which is counted from where
	// its reader stands.
	reflect.TypeFor[hub.Hub](): {"cfg", "seen"},
	// Data is the encoding of the other fields. Attempt chooses the jitter, of
	// which there is none where an attempt takes less than 8 units.
	reflect.TypeFor[batcher.Flight](): {"Data", "Attempt"},
}

// empty are those that do not matter either while the keeper keeps nothing:
// whatever makes it keep something is told by a batch that was sent later,
// and that one is noted first.
var empty = ignored{
	reflect.TypeFor[keeper.Keeper]():   {"heard", "sent"},
	reflect.TypeFor[batcher.Batcher](): {"settled", "settledSend"},
}

// sighted is the one that does not matter while something that was sent later
// than a batch was last seen applied is still in flight, or nothing is.
var sighted = ignored{
	reflect.TypeFor[hub.Hub](): {"settled"},
}

// silent are those of a process that stands still for good: what its callers
// believe is all that is left of it.
var silent = ignored{
	reflect.TypeFor[process]():       {"Seq", "Sent"},
	reflect.TypeFor[hub.Hub]():       {"cfg", "seen", "settled", "batcher", "byRef", "bySeq"},
	reflect.TypeFor[keeper.Keeper](): {"classes", "limited", "ttls", "paces", "limits", "sent", "hasSent", "renewNow", "failing"},
}

// dead are those of one whose callers believe nothing any longer.
var dead = ignored{
	reflect.TypeFor[process](): {"Seq", "Sent", "Hub"},
}

// identity returns the identity of a process.
func (l *lives) identity(p *process) []byte {
	switch {
	case p.Silent && p.trusted(l.t):
		return canon(p, p.Now, l.t, silent)
	case p.Silent:
		return canon(p, p.Now, l.t, dead)
	}
	but := []ignored{always}
	if p.keeper().Pace() == 0 {
		but = append(but, empty)
	}
	flights := p.batcher().Flights()
	if len(flights) == 0 || *inside[clock.Instant](p.Hub, "settled") <= flights[0].FirstSend {
		but = append(but, sighted)
	}
	return canon(p, p.Now, l.t, but...)
}
