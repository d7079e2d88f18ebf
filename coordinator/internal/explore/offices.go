package explore

import (
	"reflect"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/expiry"
	"github.com/palisade-go/palisade/statemachine"
)

// offices has every proposer that the search came across, each once, and what
// each event makes of each.
type offices struct {
	book *book
	t    time.Duration
	// longest is the age from which on a node was heard from long ago.
	longest   time.Duration
	searching ignored
	all       index[office]
	memo      map[duty]plan
}

// office is a proposer with the clock of its node. Nobody changes it.
type office struct {
	Proposer *expiry.Proposer
	Now      clock.Instant
	// Has says which nodes have a request in the replica's state. When a node
	// without one was heard from matters to nobody: it is heard from again
	// when it has one.
	Has [nodeCount]bool
}

// never is how long a proposer waits before it proposes the same again. In a
// search it need not: the network has the message, and may deliver it at any
// time.
const never = time.Hour

// closed is the office of a replica that never will lead again.
const closed = ^uint32(0)

type dutyKind uint8

const (
	observe dutyKind = iota // arg: the entry
	reset                   // arg: the machine
	takeOffice
	leaveOffice
	propose // arg: the machine
	wait    // arg: units of time
	insist  // from now on, what was proposed is proposed again after T/4
)

// duty is one thing that happens to an office.
type duty struct {
	office uint32
	kind   dutyKind
	arg    uint32
}

// plan is what came of it: the messages to send, and how long it is until
// there may be others; zero: never, of its own accord.
type plan struct {
	office uint32
	sends  []uint32
	next   time.Duration
}

func newOffices(b *book, cfg *Config) *offices {
	o := &offices{book: b, t: cfg.T, longest: cfg.T, searching: officeSearching(), memo: map[duty]plan{}}
	if cfg.Leaders+cfg.Restarts[0]+cfg.Restarts[1]+cfg.Installs > 0 {
		o.longest = 2 * cfg.T // a later office may give grace
	}
	return o
}

// open returns the office of a replica that was opened with a state.
func (o *offices) open(state uint32) uint32 {
	f := &office{Proposer: expiry.New(never), Now: morning}
	f.Proposer.Reset(f.Now, o.book.machines.at(state).Machine)
	f.look(o.book.machines.at(state))
	return o.intern(f)
}

func (f *office) look(m *machine) {
	for i := range f.Has {
		f.Has[i] = len(m.TTLs(nodeID(i)))+m.Leftovers(nodeID(i)) > 0
	}
}

// intern keeps an office as its identity says it is. One that kept more would
// stand for others with its own past: the batch numbers in that may be higher
// than theirs, and what it proposed for one of them would come true later. Where
// all are kept apart, each keeps what it has.
func (o *offices) intern(f *office) uint32 {
	return o.all.intern(o.identity(f), func() *office {
		if !o.all.apart {
			f.strip()
		}
		return f
	})
}

// identity returns the identity of an office.
func (o *offices) identity(f *office) []byte {
	but := officeAlways
	if *inside[time.Duration](f.Proposer, "retry") == never {
		but = o.searching
	}
	told := clone(f)
	told.strip()
	return canon(told, f.Now, o.longest, but)
}

// strip takes out of a copy what can't matter any longer.
func (f *office) strip() {
	p := reflect.ValueOf(f.Proposer).Elem()
	set := func(of reflect.Value, name string) reflect.Value {
		v := of.FieldByName(name)
		return reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
	}
	marks := set(p, "marks")
	for i, has := range f.Has {
		if !has {
			marks.SetMapIndex(reflect.ValueOf(nodeID(i)), reflect.Value{})
		}
	}
	if !f.Proposer.InOffice() {
		set(p, "since").SetZero()
	}
	for each := marks.MapRange(); each.Next(); {
		mark := each.Value().Elem()
		expire := set(mark, "expire").Interface().(statemachine.Expire)
		// Taking office forgets what was proposed before, and another batch
		// does of an expiry.
		if !f.Proposer.InOffice() {
			set(mark, "swept").SetZero()
		}
		if !f.Proposer.InOffice() || expire.Last != statemachine.BatchNumber(set(mark, "batch").Uint()) {
			set(mark, "expired").SetZero()
		}
		if set(mark, "expired").IsZero() {
			set(mark, "expire").SetZero()
		}
	}
}

// officeAlways are the fields of a proposer that never matter here.
var officeAlways = ignored{
	// last is for stalls, which take longer than 4 ms, and wake says only when
	// the loop has to look again: here it may look at any time.
	reflect.TypeFor[expiry.Proposer](): {"last", "wake"},
}

// officeSearching are those that do not matter while nothing is proposed again.
func officeSearching() ignored {
	upgraded, _ := reflect.TypeFor[expiry.Proposer]().FieldByName("upgraded")
	return ignored{
		reflect.TypeFor[expiry.Proposer](): {"last", "wake"},
		upgraded.Type:                      {"at"},
	}
}

func (o *offices) do(d duty) plan {
	if d.office == closed {
		return plan{office: closed}
	}
	if p, ok := o.memo[d]; ok {
		return p
	}
	f := clone(o.all.at(d.office))
	p := plan{}
	switch d.kind {
	case observe:
		e := &o.book.entries[d.arg]
		f.Proposer.Observe(f.Now, o.book.machines.at(e.after).Machine, e.events)
		f.look(o.book.machines.at(e.after))
	case reset:
		f.Proposer.Reset(f.Now, o.book.machines.at(d.arg).Machine)
		f.look(o.book.machines.at(d.arg))
	case takeOffice:
		f.Proposer.TakeOffice(f.Now)
	case leaveOffice:
		f.Proposer.LeaveOffice()
	case propose:
		p.sends, p.next = o.due(f, o.book.machines.at(d.arg).Machine)
	case insist:
		*inside[time.Duration](f.Proposer, "retry") = o.t / 4
	case wait:
		f.Now = f.Now.Add(time.Duration(d.arg))
	}
	p.office = o.intern(f)
	o.memo[d] = p
	return p
}

// due asks what is to be proposed now.
func (o *offices) due(f *office, m *statemachine.Machine) (sends []uint32, next time.Duration) {
	if !f.Proposer.InOffice() {
		return nil, 0
	}
	due := f.Proposer.Due(f.Now, m)
	if due.Barrier {
		panic("explore: an office stalled, in a world in which nothing takes so long")
	}
	for _, commands := range due.Batches {
		data, err := statemachine.AppendBatch(nil, statemachine.Batch{Commands: commands})
		if err != nil {
			panic("explore: " + err.Error())
		}
		sends = append(sends, o.book.message(data))
	}
	// It looks again after a while whatever happens; that is no reason.
	if d := due.Wake.Sub(f.Now); d < time.Millisecond {
		next = d
	}
	return sends, next
}
