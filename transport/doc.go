// Package transport carries frames from node to node, over TCP or in memory.
// It knows nothing of Raft, leases or keys.
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
//   - A hello is what a node says of itself before the first frame, and a member
//     a node with a hello. A peer is the other side, with what it said.
//
// # Rules of every network
//
//  1. Frames of one link arrive unchanged, each at most once, in the order they
//     were sent. One that is lost is lost with all after it: the link breaks.
//
//  2. A link that is broken stays broken. Send says so, though over a wire the
//     news may need a while; dial again. Nothing tells the receiver. So an
//     error of Send leaves open which of the frames sent before it arrived.
//
//  3. Receive is called for one frame of a link after the other, never
//     concurrently, and each link has its own turn: a handler that blocks for
//     one holds up that link and nothing else.
//
//  4. A link holds at most 2*FrameBytesMax bytes that were sent and not yet
//     received, besides what the sockets of the system hold. Past that Send
//     blocks, until there is room or the link ends.
//
//  5. Closing a link is orderly: what was sent before still arrives, unless the
//     link breaks. Closing a listener is not: its links break, and what they
//     held is lost. When it returns no Receive runs and none will begin.
//
//  6. Between members the first frame comes after both have said yes. The
//     acceptor judges first, by the clusters, then the versions, then Admit;
//     after its yes the dialler judges alike. A no reaches both sides with its
//     code and its reason, and Receive gets the peer that was judged.
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
// What members say to one another before the first frame crosses the network
// too: a dial through a black hole waits before anybody is judged, and a fault
// that begins in between holds the answer up or ends the dial. Memory.Join makes
// a member; without it a node has no hello, is not judged and judges nobody.
//
// A fault decides about a frame when it is sent. What is on its way when a
// fault begins or ends is not touched; only Cut and a closing listener lose it.
//
// Everything random comes from the seed, by one source for each direction. The
// same frames sent in the same order in a direction meet the same fates.
//
// # The network over TCP
//
// TCP is the network between processes. A link is one connection, which its
// sender dials; frames go one way on it. Before the first frame both sides
// learn who the other is, and either may refuse:
//
//	dialler                         acceptor
//	   | TLS, or the preface            |    TLS 1.3, both certificates verified
//	   |------------------------------->|    by CAFile; ALPN names the kind
//	   | hello                          |
//	   |------------------------------->|    judges: certificate = hello, same
//	   |                  hello, answer |    cluster, a version in common,
//	   |<-------------------------------|    Admit, not too many links
//	   | answer                         |    judges alike
//	   |------------------------------->|
//	   | frames                         |
//	   |------------------------------->|
//
// An answer that is not yes carries the reason, and nothing follows it. An
// acceptor that refuses before it has read a hello sends its answer alone.
//
// What a node is, is told by its certificate: the URI SAN of NodeURI has to
// name the configured cluster and the node of the hello. Host names and
// addresses play no part in it. The Address that a handler gets is what the
// dialler calls itself. The files are looked at in every handshake and read
// again when they have changed; links that are open stay.
//
// What a stranger can cost: at most 128 connections of a listener are in their
// handshake; when more come, the oldest of the busiest source is closed, and
// each is closed after TCPConfig.Handshake. Nothing is allocated for a length
// that was only announced. No error of a connection ends more than that
// connection, and none of Accept ends the listener.
//
// What is lost without a word is noticed after about TCPConfig.Stall: a peer
// that is gone, one that takes nothing, one that stops inside a frame.
//
// # Wire formats over TCP
//
// Numbers are big-endian. The formats change only together with the names in
// ALPN and the preface, or where it says so below.
//
// The kind is told by ALPN, palisade-messages/1 or palisade-chunks/1, and
// without TLS by a preface, the first bytes of the dialler:
//
//	+----------------+----------+
//	| "palisade"     | kind     |   kind: 1 messages, 2 chunks
//	| 8 bytes        | 1 byte   |
//	+----------------+----------+
//
// All that follows is frames. The checksum is CRC-32C over the length and the
// bytes; a frame has at most FrameBytesMax bytes, 4096 before both have said
// yes:
//
//	+----------+----------+------------------+
//	| length n | checksum | bytes            |
//	| 4 bytes  | 4 bytes  | n bytes          |
//	+----------+----------+------------------+
//
// A hello, as the bytes of a frame:
//
//	+--------+--------+----------+---------+-----------+
//	| 0x01   | form   | cluster  | node    | directory |
//	| 1 byte | 1 byte | 32 bytes | 8 bytes | 16 bytes  |
//	+--------+--------+----------+---------+-----------+
//	+-------------+----------+---------+---------+--------+
//	| incarnation | start    | lowest  | highest | fields |
//	| 8 bytes     | 16 bytes | 2 bytes | 2 bytes |        |
//	+-------------+----------+---------+---------+--------+
//
// The form is 1; another is refused. Cluster, node, directory, incarnation and
// start are not all zero, and 1 <= lowest <= highest: the versions of what is
// inside of frames. The fields fill the rest, in the order of their tags, each at most once:
//
//	+---------+----------+---------+
//	| tag     | length n | value   |
//	| 2 bytes | 2 bytes  | n bytes |
//	+---------+----------+---------+
//
//	tag     value
//	0x0001  the dialler's own address, 1 to 512 bytes of UTF-8; of diallers only
//	0x0002  what the cluster is the hash of, 1 to 2048 bytes; may be left out
//
// A tag that is not known is skipped below 0x8000, and the hello refused from
// 0x8000 on. So a later version can add what the earlier may overlook, and
// what it must not.
//
// An answer, as the bytes of a frame. Code 0 is yes and has no reason; the
// codes are those of type Code; the reason has at most ReasonBytesMax bytes,
// of which a reader takes what is printable UTF-8:
//
//	+--------+---------+--------+
//	| 0x02   | code    | reason |
//	| 1 byte | 2 bytes |        |
//	+--------+---------+--------+
package transport
