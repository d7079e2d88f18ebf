package statemachine

import "fmt"

// Machine is the lock machine of one group: all its leases, waits and
// presences in memory. Its methods never block and use no clock. One caller at
// a time may use Apply, Skip or TakeChanges, and nobody anything else
// meanwhile; the other methods change nothing and may run side by side.
type Machine struct {
	group   GroupID
	meta    Meta
	members []*member             // by rising node
	keys    table[string, *stand] // the front of each line
	lengths queueLengths
	leases  int
	waits   int
	changes changes

	// ready and events are filled by the command being applied and empty
	// between commands and batches.
	ready  []*request
	events []Event
}

// New returns the machine of a group before its first entry: machine version
// 1, nothing held, the members known but not announced. All of it counts as
// changed, so the first TakeChanges makes an image that is whole in itself.
func New(g Genesis) *Machine {
	m := &Machine{group: g.Group, meta: Meta{Epoch: g.Epoch, Version: 1}}
	for _, node := range g.Members {
		p, added := m.enroll(node)
		if added {
			m.changes.presence(p)
		}
	}
	m.changes.meta = true
	return m
}

// Apply applies the batch of the log entry at index and returns what happened,
// in order. Equal batches at equal indexes give equal events and equal states
// on every replica. The events belong to the caller. Batches that say nothing
// new and batches of unknown nodes give none; no batch gives an error.
//
// index must be above Meta().Applied, and Meta().Version must not be above
// Binary: an Upgrade may have raised it, and a replica that does not know the
// new rules must stop (ErrNewer) rather than apply another entry. Apply panics
// otherwise, before it changes anything. Any other panic is a fault of the
// machine, leaves it half changed and must not be recovered.
//
// A command costs O(its claims × log of the requests it grants), whatever the
// length of the queues; Expire and Sweep end at most SliceMax requests.
func (m *Machine) Apply(index Index, b Batch) []Event {
	m.advance(index)
	if b.Node == 0 {
		m.applyLeaders(&b)
	} else {
		m.applyNodes(&b)
	}
	m.checkAfterApply()
	events := m.events
	m.events = nil
	return events
}

// Skip records that the log entry at index carried no batch: only the applied
// index moves. The same holds for index as in Apply.
func (m *Machine) Skip(index Index) { m.advance(index) }

// Meta returns what the group knows of itself.
func (m *Machine) Meta() Meta { return m.meta }

func (m *Machine) advance(index Index) {
	if index <= m.meta.Applied {
		broken("index %d applied after index %d", index, m.meta.Applied)
	}
	if m.meta.Version > Binary {
		panic(fmt.Errorf("%w: the group has machine version %d, this binary knows %d", ErrNewer, m.meta.Version, Binary))
	}
	m.meta.Applied = index
	m.changes.meta = true
}

// applyNodes applies a batch of a node.
func (m *Machine) applyNodes(b *Batch) {
	p := m.member(b.Node)
	if p == nil || !m.admit(p, b) {
		return
	}
	m.emit(Applied{Node: b.Node, Incarnation: b.Incarnation, Number: b.Number})
	for i, c := range b.Commands {
		m.applyNodesCommand(p, c, refusal{
			node: b.Node, incarnation: b.Incarnation, number: b.Number, ordinal: i, seq: seqOf(c),
		})
	}
}

// applyNodesCommand applies one command of a node's batch. Nothing follows a
// Leave of the same batch, as no batch follows it.
func (m *Machine) applyNodesCommand(p *member, c Command, at refusal) {
	if !m.gate(c, at) {
		return
	}
	if p.presence.Left {
		m.refuse(at, RefusedInvalid)
		return
	}
	switch c := c.(type) {
	case Acquire:
		m.acquire(p, c, at)
	case Cancel:
		m.cancel(p, c)
	case Release:
		m.release(p, c)
	case Leave:
		m.leave(p)
	default:
		m.refuse(at, RefusedInvalid)
	}
}

// applyLeaders applies a batch of the leader. What follows an Upgrade that
// took effect is refused, unread: it was written under the old rules, and a
// binary that does not know the new ones must stop with this index, having done
// what the others did.
func (m *Machine) applyLeaders(b *Batch) {
	version := m.meta.Version
	for i, c := range b.Commands {
		if m.meta.Version != version {
			m.refuse(refusal{ordinal: i}, RefusedInvalid)
			continue
		}
		m.applyLeadersCommand(c, refusal{ordinal: i, seq: seqOf(c)})
	}
}

func (m *Machine) applyLeadersCommand(c Command, at refusal) {
	if !m.gate(c, at) {
		return
	}
	switch c := c.(type) {
	case Expire:
		m.expire(c)
	case ExpireLimit:
		m.expireLimit(c)
	case Sweep:
		m.sweep(c)
	case Upgrade:
		m.upgrade(c)
	default:
		m.refuse(at, RefusedInvalid)
	}
}

// gate looks at the version of a command before anything else of it, and
// refuses one that is newer than the group. A binary that does not know the
// command reads it as Unknown; one that does must refuse it too while the
// group's version is lower, and in the same words, or the two would differ: so
// this refusal tells nothing that stands in the body.
func (m *Machine) gate(c Command, at refusal) bool {
	form, ok := formOf(c)
	_, unknown := c.(Unknown)
	switch {
	case unknown, ok && form.since > m.meta.Version:
		at.seq = 0
		m.refuse(at, RefusedVersion)
		return false
	case !ok:
		m.refuse(at, RefusedInvalid)
		return false
	}
	return true
}

// refusal is where a command stands that may be refused.
type refusal struct {
	node        NodeID
	incarnation Incarnation
	number      BatchNumber
	ordinal     int
	seq         Seq
	holders     []Holder
}

// seqOf returns the seq of an Acquire, 0 of any other command.
func seqOf(c Command) Seq {
	if a, ok := c.(Acquire); ok {
		return a.Seq
	}
	return 0
}

func (m *Machine) refuse(at refusal, reason RefuseReason) {
	m.emit(Refused{
		Node: at.node, Incarnation: at.incarnation, Number: at.number, Ordinal: at.ordinal,
		Seq: at.seq, Reason: reason, Holders: at.holders,
	})
}

func (m *Machine) emit(e Event) { m.events = append(m.events, e) }

// broken panics: the machine or its caller is broken, and to go on would let
// replicas differ.
func broken(format string, args ...any) {
	panic(fmt.Errorf("statemachine: "+format, args...))
}
