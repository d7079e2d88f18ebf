package statemachine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Each fault breaks one invariant of a machine in order; Check has to find it.
// Without this a Check that looks at nothing would pass every other test.
func TestCheckFinds(t *testing.T) {
	for name, c := range map[string]struct {
		invariant string
		fault     func(m *Machine, lease, first, second *request)
	}{
		"ASecondLeaseOfAKey":          {"invariant 1", func(m *Machine, lease, first, _ *request) { first.phase, first.token = held, lease.token }},
		"AHolderThatIsGone":           {"invariant 1", func(m *Machine, lease, first, _ *request) { m.keys.put("a", &first.claims()[0]) }},
		"AHolderBehindAWaiter":        {"invariant 1", func(m *Machine, lease, _, _ *request) { toTheEnd(m, &lease.claims()[0]) }},
		"AQueueOutOfOrder":            {"invariant 2", func(m *Machine, _, first, second *request) { swapPlaces(first, second) }},
		"AWaiterThatCouldGo":          {"invariant 3", func(m *Machine, lease, _, second *request) { idle(m, second) }},
		"AWakeThatWasForgotten":       {"invariant 3", func(m *Machine, lease, first, _ *request) { m.ready = append(m.ready, first) }},
		"AWaiterWithoutAPlace":        {"invariant 4", func(m *Machine, _, first, _ *request) { m.part(&first.claims()[0]) }},
		"AKeyThatIsFreeAndRemembered": {"invariant 5", func(m *Machine, _, _, _ *request) { m.keys.put("free", new(stand)) }},
		"ARequestThatIsOver":          {"invariant 5", func(m *Machine, _, _, second *request) { second.phase = over }},
		"AnEmptyIncarnationRemembered": {"invariant 5", func(m *Machine, lease, _, _ *request) {
			p := lease.bucket.owner.member
			p.older = []*owner{{member: p, incarnation: 1}}
			p.presence.Incarnation, p.present.incarnation = 2, 2
		}},
		"AnOwnerOfAnotherIncarnation":   {"invariant 6", func(m *Machine, lease, _, _ *request) { lease.bucket.owner.incarnation = 9 }},
		"MembersOutOfOrder":             {"invariant 6", func(m *Machine, _, _, _ *request) { m.members[0], m.members[1] = m.members[1], m.members[0] }},
		"ALeaseOfABatchToCome":          {"invariant 6", func(m *Machine, lease, _, _ *request) { lease.last += 9 }},
		"ATokenThatWasNotIssued":        {"invariant 7", func(m *Machine, lease, _, _ *request) { lease.token += 9 }},
		"ATokenOfAWait":                 {"invariant 7", func(m *Machine, lease, first, _ *request) { first.token = lease.token }},
		"AWrongCountOfLeases":           {"invariant 8", func(m *Machine, _, _, _ *request) { m.leases++ }},
		"AWrongCountOfWaits":            {"invariant 8", func(m *Machine, _, _, _ *request) { m.waits-- }},
		"AWrongLengthOfAQueue":          {"invariant 8", func(m *Machine, lease, _, _ *request) { lease.claims()[0].waiters++ }},
		"AWrongLongestQueue":            {"invariant 8", func(m *Machine, _, _, _ *request) { m.lengths.longest++ }},
		"AWrongCountOfLengths":          {"invariant 8", func(m *Machine, _, _, _ *request) { m.lengths.keys[1]++ }},
		"AWrongCountOfTurns":            {"invariant 8", func(m *Machine, _, first, _ *request) { first.turns++ }},
		"ARequestThatItsOwnerForgot":    {"invariant 9", func(m *Machine, lease, _, _ *request) { lease.bucket.owner.requests.remove(lease.seq) }},
		"ARequestUnderAnotherSeq":       {"invariant 9", func(m *Machine, lease, _, _ *request) { lease.seq = 55 }},
		"ABucketWithAWrongTail":         {"invariant 9", func(m *Machine, lease, _, _ *request) { lease.bucket.tail = nil }},
		"ABucketThatIsEmpty":            {"invariant 9", func(m *Machine, lease, _, _ *request) { lease.bucket.head = nil }},
		"APlaceThatWasNotGiven":         {"invariant 9", func(m *Machine, _, _, second *request) { second.place = 99 }},
		"APlaceThatWasGivenTwice":       {"invariant 9", func(m *Machine, lease, first, _ *request) { lease.place = first.place }},
		"ATTLOutOfBounds":               {"invariant 10", func(m *Machine, lease, _, _ *request) { lease.bucket.ttl = -1 * time.Second }},
		"AClaimOfAnUnknownMode":         {"invariant 10", func(m *Machine, lease, _, _ *request) { lease.claims()[0].mode = 7 }},
		"AChangeThatWasNotNoted":        {"invariant 11", func(m *Machine, _, first, _ *request) { m.changes.drop(first) }},
		"AChangeNotedAtAnotherPosition": {"invariant 11", func(m *Machine, lease, first, _ *request) { lease.change, first.change = first.change, lease.change }},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t)
			g.node(1, acquire(1, "a"))
			g.node(2, waitFor(1, "a", "b"))
			g.node(3, waitFor(1, "a"))
			require.NoError(t, g.m.Check())
			c.fault(g.m, g.m.find(leaseID(1, 1)), g.m.find(leaseID(2, 1)), g.m.find(leaseID(3, 1)))
			require.ErrorContains(t, g.m.Check(), c.invariant+":")
		})
	}
}

func swapPlaces(a, b *request) { a.place, b.place = b.place, a.place }

// toTheEnd puts s at the end of its line, as if it had come last.
func toTheEnd(m *Machine, s *stand) {
	waiters := s.waiters
	next := s.next
	next.prev, next.waiters = s, waiters
	s.prev.next, s.next = s, nil
	m.keys.put(s.name, next)
}

// idle puts a request for a free key in line, with nothing in its way.
func idle(m *Machine, like *request) {
	r := m.arrive(like.bucket.owner.member, waitFor(50, "nobody has it"))
	m.join(&r.claims()[0])
	m.ready = nil
	m.waits++
	m.changes.request(r)
}
