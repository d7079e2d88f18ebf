package statemachine

// expire ends the oldest slice of what a node has that was not heard from. It
// does nothing when the node was heard from meanwhile, has started anew, or
// has left.
//
// The whole slice ends before anybody is woken, so no wait of the slice is
// granted a key that a lease of the slice has freed. A slice is the oldest
// requests, leases and waits alike. A wait that only a later slice will end
// can be granted in between: it is next in line, and the log does not say yet
// that its owner is dead. It costs its owner's followers no more than the
// commits until that slice, which has to come anyway. The other choice, all
// waits before any lease, would keep live requests behind the dead leases for
// as many commits.
func (m *Machine) expire(c Expire) {
	p := m.member(c.Node)
	if p == nil {
		return
	}
	known := p.presence
	if known.Incarnation != c.Incarnation || known.Last != c.Last || known.Left {
		return
	}
	m.endSlice(p.present.upTo(c.TTL), EndExpired)
}

// expireLimit ends a lease whose limit has passed.
func (m *Machine) expireLimit(c ExpireLimit) {
	r := m.find(c.Lease)
	if r == nil || r.phase != held || r.told().limit == 0 {
		return
	}
	m.end(r, EndLimit)
	m.wake()
}

// sweep ends the oldest slice of what gone incarnations of the node have, or
// one that left. The rule of expire about later slices holds here too.
func (m *Machine) sweep(c Sweep) {
	p := m.member(c.Node)
	if p == nil {
		return
	}
	var buckets []*bucket
	for _, o := range p.leftovers() {
		buckets = append(buckets, o.buckets...)
	}
	m.endSlice(buckets, EndSwept)
}

// endSlice ends the oldest requests of the buckets, and then wakes.
func (m *Machine) endSlice(buckets []*bucket, reason EndReason) {
	for _, r := range slice(buckets) {
		m.end(r, reason)
	}
	m.wake()
}

// find returns the request, nil if there is none.
func (m *Machine) find(id LeaseID) *request {
	p := m.member(id.Node)
	if p == nil {
		return nil
	}
	o := p.owner(id.Incarnation)
	if o == nil {
		return nil
	}
	r, _ := o.requests.get(id.Seq)
	return r
}
