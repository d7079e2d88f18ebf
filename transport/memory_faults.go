package transport

import "time"

// A fault that is set stays until Heal or HealAll, and replaces an earlier one
// of its own sort in the direction. Faults of different sorts add up. All of
// these methods return at once.

// Cut breaks the direction audibly: open links break, what they hold is lost,
// and dials fail with ErrUnreachable. The opposite direction is not touched.
func (m *Memory) Cut(from, to string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.pathLocked(direction{from: from, to: to})
	p.set(func(f *faults) { f.cut = true })
	if ln := m.listeners[to]; ln != nil {
		for link := range ln.links {
			if link.direction.from == from && link.fail("cut") {
				p.count(Stats{LinksBroken: 1})
			}
		}
	}
	m.wakeDialsLocked()
}

// BlackHole lets everything in the direction vanish without an error: frames,
// and the requests and answers of dials. Dials either way between the two
// addresses wait until it is healed or their context ends. What goes over open
// links in the opposite direction arrives.
func (m *Memory) BlackHole(from, to string) {
	m.set(from, to, func(f *faults) { f.hole = true })
}

// Delay makes each frame sent from now on arrive after a time between shortest
// and longest, drawn evenly for each, never before an earlier frame of its
// link. A negative shortest counts as 0, a longest below shortest as shortest.
// Dials are not delayed.
func (m *Memory) Delay(from, to string, shortest, longest time.Duration) {
	shortest = max(shortest, 0)
	longest = max(longest, shortest)
	m.set(from, to, func(f *faults) { f.delayMin, f.delayMax = shortest, longest })
}

// Drop lets each frame vanish without an error with the given probability.
// Below 0 and not-a-number count as 0, above 1 as 1.
func (m *Memory) Drop(from, to string, probability float64) {
	m.set(from, to, func(f *faults) { f.drop = probability })
}

// Duplicate makes each frame arrive twice in a row with the given probability.
// Below 0 and not-a-number count as 0, above 1 as 1. A frame that vanishes is
// not duplicated.
func (m *Memory) Duplicate(from, to string, probability float64) {
	m.set(from, to, func(f *faults) { f.duplicate = probability })
}

// Heal ends every fault of the direction. A link that broke stays broken, a
// frame that is delayed stays delayed, and an isolated address stays isolated.
func (m *Memory) Heal(from, to string) {
	m.set(from, to, func(f *faults) { *f = faults{} })
}

// HealAll ends every fault of every direction and every isolation.
func (m *Memory) HealAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.isolated)
	for _, p := range m.paths {
		p.set(func(f *faults) { *f = faults{} })
		p.setIsolated(false)
	}
	m.wakeDialsLocked()
}

// Isolate is a black hole both ways between addr and every other address, also
// those that are first used later. Rejoin ends it.
func (m *Memory) Isolate(addr string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.isolated[addr] = struct{}{}
	m.spreadIsolationLocked()
}

// Rejoin ends the isolation of addr. Faults that were set for one of its
// directions stay, and so does the isolation of others.
func (m *Memory) Rejoin(addr string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.isolated, addr)
	m.spreadIsolationLocked()
}

// spreadIsolationLocked tells all paths, so that a Send asks its path alone.
func (m *Memory) spreadIsolationLocked() {
	for d, p := range m.paths {
		p.setIsolated(m.isolatesLocked(d))
	}
	m.wakeDialsLocked()
}

// set changes the faults of one direction.
func (m *Memory) set(from, to string, change func(*faults)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pathLocked(direction{from: from, to: to}).set(change)
	m.wakeDialsLocked()
}
