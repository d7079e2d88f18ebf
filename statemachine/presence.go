package statemachine

import (
	"cmp"
	"slices"
)

// member is a node that the group knows, with all that it has.
type member struct {
	presence Presence
	present  *owner   // of the presence's incarnation; may have nothing
	older    []*owner // lower incarnations that still have something, by rise
	changed  bool     // noted in changes.presences
}

// member returns the node's entry, nil if it is no member.
func (m *Machine) member(node NodeID) *member {
	if i, found := m.searchMember(node); found {
		return m.members[i]
	}
	return nil
}

func (m *Machine) searchMember(node NodeID) (int, bool) {
	return slices.BinarySearchFunc(m.members, node, func(p *member, node NodeID) int {
		return cmp.Compare(p.presence.Node, node)
	})
}

// enroll makes node a member that has not announced itself, unless it is a
// member already.
func (m *Machine) enroll(node NodeID) (p *member, added bool) {
	i, found := m.searchMember(node)
	if found {
		return m.members[i], false
	}
	p = &member{presence: Presence{Node: node}}
	p.present = &owner{member: p}
	m.members = slices.Insert(m.members, i, p)
	return p, true
}

// admit decides whether a batch of p's node takes effect, and if so renews the
// presence. Batches are compared as (incarnation, number); what is not above
// the last applied is a repetition, or was overtaken and is dead for good.
// Incarnations and numbers count from 1: zero is above nothing.
func (m *Machine) admit(p *member, b *Batch) bool {
	known := p.presence
	announced := known.Incarnation != 0
	switch {
	case announced && b.Directory != known.Directory:
		m.reject(b, known, RejectedDirectory)
		return false
	case b.Incarnation < known.Incarnation:
		m.reject(b, known, RejectedSuperseded)
		return false
	case b.Incarnation == known.Incarnation && known.Left:
		m.reject(b, known, RejectedLeft)
		return false
	case b.Incarnation == known.Incarnation && b.Number <= known.Last,
		b.Incarnation == 0, b.Number == 0:
		return false
	}
	if b.Incarnation > known.Incarnation {
		m.supersede(p, b.Incarnation)
	}
	p.presence.Directory = b.Directory
	p.presence.Last = b.Number
	p.presence.Speaks = b.Speaks
	p.presence.Wall = b.Wall
	m.changes.presence(p)
	return true
}

// supersede begins a higher incarnation. What the one before has is left to
// the sweep.
func (m *Machine) supersede(p *member, incarnation Incarnation) {
	if p.present.requests.size() > 0 {
		p.older = append(p.older, p.present)
	}
	p.present = &owner{member: p, incarnation: incarnation}
	p.presence.Incarnation = incarnation
	p.presence.Left = false
}

func (m *Machine) reject(b *Batch, known Presence, reason RejectReason) {
	m.emit(Rejected{
		Node: b.Node, Directory: b.Directory, Incarnation: b.Incarnation, Number: b.Number,
		Reason: reason, Known: known,
	})
}

func (m *Machine) leave(p *member) {
	p.presence.Left = true
	m.changes.presence(p)
}

// owner returns what the incarnation has, nil if it has nothing and is not the
// present one.
func (p *member) owner(incarnation Incarnation) *owner {
	if p.present.incarnation == incarnation {
		return p.present
	}
	for _, o := range p.older {
		if o.incarnation == incarnation {
			return o
		}
	}
	return nil
}

// forget drops the owner if it is a lower incarnation that has nothing left.
func (p *member) forget(o *owner) {
	if o == p.present || o.requests.size() > 0 {
		return
	}
	p.older = slices.DeleteFunc(p.older, func(other *owner) bool { return other == o })
}

// leftovers returns the owners whose incarnation is gone or has left, the
// lowest first.
func (p *member) leftovers() []*owner {
	if !p.presence.Left {
		return p.older
	}
	return append(slices.Clone(p.older), p.present)
}

// UpgradeTo says whether an Upgrade to v would change something: v is above
// the group's version, and every member has announced that it speaks v.
func (m *Machine) UpgradeTo(v Version) bool {
	if v <= m.meta.Version {
		return false
	}
	for _, p := range m.members {
		if p.presence.Incarnation == 0 || p.presence.Speaks < v {
			return false
		}
	}
	return true
}

func (m *Machine) upgrade(c Upgrade) {
	if m.UpgradeTo(c.Version) {
		m.meta.Version = c.Version
	}
}
