package explore

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/palisade-go/palisade/statemachine"
)

// genesis is what the group knows before its first entry.
var genesis = statemachine.Genesis{Group: 1, Members: []statemachine.NodeID{1, 2}}

// book has every message, every state of the machine and every step from one
// state to the next that the search came across, each once.
//
// A state of the machine does not say at which index it is: what is to come
// depends only on the entries that follow. So an entry that changes nothing
// and tells nothing leads to the same state.
type book struct {
	messages index[message]
	machines index[machine]
	steps    map[cause]uint32
	entries  []entry
}

// message is a batch on its way to the log.
type message struct {
	data  []byte
	batch statemachine.Batch
}

// machine is a state of the lock machine. Nobody changes it.
type machine struct {
	*statemachine.Machine
	text   string
	leases []statemachine.Lease
	waits  []statemachine.Wait
}

// cause is a message that meets a state.
type cause struct{ before, message uint32 }

// entry is what came of it.
type entry struct {
	cause
	after  uint32
	events []statemachine.Event
	notes  notes
	broken string // the guarantee that does not hold
}

// idle says that nobody can tell whether the entry is there.
func (e *entry) idle() bool { return e.before == e.after && len(e.events) == 0 }

func newBook() *book {
	b := &book{steps: map[cause]uint32{}}
	b.machine(statemachine.New(genesis))
	return b
}

// message returns the number of a message.
func (b *book) message(data []byte) uint32 {
	return b.messages.intern(data, func() *message {
		batch, err := statemachine.DecodeBatch(data)
		if err != nil {
			panic(fmt.Sprintf("explore: %v", err))
		}
		return &message{data, batch}
	})
}

// machine returns the number of a state.
func (b *book) machine(m *statemachine.Machine) uint32 {
	var text bytes.Buffer
	if err := m.Dump(&text); err != nil {
		panic(fmt.Sprintf("explore: %v", err))
	}
	full := text.String()
	_, rest, found := strings.Cut(full, fmt.Sprintf(" applied=%d ", m.Meta().Applied))
	if !found {
		panic("explore: a dump does not say what was applied: " + full)
	}
	return b.machines.intern([]byte(rest), func() *machine {
		s := &machine{Machine: m, text: rest}
		for _, p := range m.Presences() {
			for incarnation := statemachine.Incarnation(1); incarnation <= p.Incarnation; incarnation++ {
				leases, waits := m.Owned(p.Node, incarnation)
				s.leases = append(s.leases, leases...)
				s.waits = append(s.waits, waits...)
			}
		}
		return s
	})
}

// reopened returns the machine as a replica would load it from its image.
func (m *machine) reopened() *statemachine.Machine {
	loaded, err := statemachine.Load(genesis, m.Records())
	if err != nil {
		panic(fmt.Sprintf("explore: %v", err))
	}
	return loaded
}

// step returns the number of the entry that a message makes when it comes to
// the log in a state. The machine is loaded from its image for each step, so
// that the state which is kept stays as it is.
func (b *book) step(before, msg uint32) uint32 {
	c := cause{before, msg}
	if n, ok := b.steps[c]; ok {
		return n
	}
	was := b.machines.at(before)
	batch := b.messages.at(msg).batch
	m := was.reopened()
	events := m.Apply(m.Meta().Applied+1, batch)
	e := entry{cause: c, after: b.machine(m), events: events}
	judge(&e, was, b.machines.at(e.after), batch)
	if err := m.Check(); err != nil {
		e.broken = err.Error()
	}
	n := uint32(len(b.entries))
	b.entries = append(b.entries, e)
	b.steps[c] = n
	return n
}

// index numbers things by what they are.
type index[T any] struct {
	numbers map[string]uint32
	all     []*T
	// apart gives each thing a number of its own, whatever it is: for the test
	// that things with one identity may stand for each other.
	apart bool
}

// intern returns the number of the thing with that identity, which first makes if
// it is new.
func (x *index[T]) intern(identity []byte, first func() *T) uint32 {
	if n, ok := x.numbers[string(identity)]; ok && !x.apart {
		return n
	}
	if x.numbers == nil {
		x.numbers = map[string]uint32{}
	}
	n := uint32(len(x.all))
	x.numbers[string(identity)] = n
	x.all = append(x.all, first())
	return n
}

func (x *index[T]) at(n uint32) *T { return x.all[n] }
