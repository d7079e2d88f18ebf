// Package transport carries frames from node to node. It knows nothing of
// Raft, leases or keys.
//
// # Words
//
//   - An address is where a node listens. One network has at most one listener
//     at an address.
//   - A link carries frames of one kind, one way, from the address that dialled
//     it to the listener it reached. Two nodes that talk have links both ways.
//   - A frame is the bytes of one Send, delivered as the bytes of one Receive.
//   - A direction is an ordered pair of addresses. All links from the first to
//     the second belong to it.
//
// # Rules of every network
//
//  1. Frames of one link arrive unchanged, each at most once, in the order they
//     were sent. One that is lost is lost with all after it: the link breaks.
//  2. A link that is broken stays broken. Send says so, though over a wire the
//     news may need a while; dial again. Nothing tells the receiver. So an
//     error of Send leaves open which of the frames sent before it arrived.
//  3. Receive is called for one frame of a link after the other, never
//     concurrently, and each link has its own turn: a handler that blocks for
//     one holds up that link and nothing else.
//  4. A link holds at most 2*FrameBytesMax bytes that were sent and not yet
//     received. Past that Send blocks, until there is room or the link ends.
//  5. Closing a link is orderly: what was sent before still arrives, unless the
//     link breaks. Closing a listener is not: its links break, and what they
//     held is lost. When it returns no Receive runs and none will begin.
//
// Package transporttest holds these rules as tests.
//
// # The network in memory
//
// Memory is a network inside one process, with faults to be set for each
// direction while links are open:
//
//	fault      frames of the direction            dials of the direction
//	Cut        links break, what they held is     fail at once
//	           lost
//	BlackHole  vanish, Send returns nil           wait until healed, as do those
//	                                              of the opposite direction
//	Delay      arrive later, still in order       -
//	Drop       vanish with a probability          -
//	Duplicate  arrive twice with a probability    -
//
// BlackHole, Drop and Duplicate break rule 1 on purpose. A black hole swallows
// packets, and a dial needs one each way: the request and the answer. So
// a hole from a to b leaves the open links from b to a in order, but no new
// link comes about between the two.
//
// A fault decides about a frame when it is sent. What is on its way when a
// fault begins or ends is not touched; only Cut and a closing listener lose it.
//
// Everything random comes from the seed, by one source for each direction. The
// same frames sent in the same order in a direction meet the same fates.
package transport
