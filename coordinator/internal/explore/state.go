package explore

import (
	"hash/maphash"
	"slices"
	"unsafe"

	"github.com/palisade-go/palisade/statemachine"
)

const (
	nodeCount = 2
	keyCount  = 2
	tailMax   = 4
	netMax    = 28
)

// state is everything, at an instant. It has no pointers and no padding that
// could differ: its bytes are its identity.
type state struct {
	head  uint32          // the machine at the end of the log
	tail  [tailMax]uint32 // the entries that some replica has not applied, oldest first
	net   [netMax]uint32  // the messages that were ever sent, plus one, rising from the right
	nodes [nodeCount]node
	// tokens is the greatest ever issued for each key.
	tokens [keyCount]uint32
	tails  uint32
	leader uint32 // index of a node
	left   budget
}

// node is one of the nodes.
type node struct {
	life   uint32
	office uint32
	lag    uint8 // entries of the tail that its replica has not applied
	// news says that the node has not heard who leads; claims that it knows
	// itself as the leader and is not in office yet, which it may take after
	// barrier more entries.
	news, claims bool
	barrier      uint8
}

// budget is how often things may happen from here on.
type budget struct {
	leaders, installs, rests, cancels uint8
	restarts                          [nodeCount]uint8
	_                                 [2]uint8
}

// identity is 128 bits of hash: among a hundred million states, two different
// ones are taken for one with a chance of 1 in 10^22.
type identity [2]uint64

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func (s *state) identity() identity {
	raw := unsafe.Slice((*byte)(unsafe.Pointer(s)), unsafe.Sizeof(*s))
	return identity{maphash.Bytes(seeds[0], raw), maphash.Bytes(seeds[1], raw)}
}

// messages returns the net as a list.
func (s *state) messages() []uint32 {
	n := netMax
	for n > 0 && s.net[n-1] != 0 {
		n--
	}
	list := slices.Clone(s.net[n:])
	for i := range list {
		list[i]--
	}
	return list
}

// sends puts messages into the net. It reports whether there was room.
func (s *state) sends(messages []uint32) bool {
	for _, m := range messages {
		i, found := slices.BinarySearch(s.net[:], m+1)
		if found {
			continue
		}
		if s.net[0] != 0 {
			return false
		}
		// All before i moves to the left.
		copy(s.net[:], s.net[1:i])
		s.net[i-1] = m + 1
	}
	return true
}

// trim forgets the entries that all replicas have applied.
func (s *state) trim() {
	keep := uint32(0)
	for i := range s.nodes {
		keep = max(keep, uint32(s.nodes[i].lag))
	}
	gone := s.tails - keep
	copy(s.tail[:], s.tail[gone:s.tails])
	clear(s.tail[keep:])
	s.tails = keep
}

// replica returns the machine of a node.
func (x *explorer) replica(s *state, i int) uint32 {
	if lag := uint32(s.nodes[i].lag); lag > 0 {
		return x.book.entries[s.tail[s.tails-lag]].before
	}
	return s.head
}

func nodeID(i int) statemachine.NodeID { return statemachine.NodeID(i + 1) }
