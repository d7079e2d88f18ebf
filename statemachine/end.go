package statemachine

// end takes a request out of the machine, with its keys and places. Whoever is
// first in line of them now is woken by the caller, after all that the command
// ends has ended.
func (m *Machine) end(r *request, reason EndReason) {
	inLine := r.phase == waiting
	claims := r.claims()
	for i := range claims {
		m.part(&claims[i])
	}
	if inLine {
		m.waits--
	} else {
		m.leases--
	}
	o := r.bucket.owner
	o.remove(r)
	o.member.forget(o)
	r.phase = over
	m.changes.request(r)
	m.emit(Ended{Lease: r.id(), Reason: reason, Waiting: inLine})
}

// cancel ends the sender's request, whatever it has become: the sender can't
// know whether its turn came first.
func (m *Machine) cancel(p *member, c Cancel) {
	r, ok := p.present.requests.get(c.Seq)
	if !ok {
		return
	}
	reason := EndCancelled
	if r.phase == held {
		reason = EndReleased
	}
	m.end(r, reason)
	m.wake()
}

// release ends the sender's lease. A request that waits has nothing to
// release.
func (m *Machine) release(p *member, c Release) {
	r, ok := p.present.requests.get(c.Seq)
	if !ok || r.phase != held {
		return
	}
	m.end(r, EndReleased)
	m.wake()
}
