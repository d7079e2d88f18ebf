// Package admission decides which other nodes this node exchanges Raft
// messages with, and when it may begin.
//
// Raft is safe as long as a node remembers its votes and its log. A member
// that came back with an empty directory, or with an older copy of its own,
// has forgotten some: together with a minority it could elect a leader that
// lacks what was acknowledged. So every node remembers of each peer which
// directory it came with and its newest start (identity.Peers, on disk before
// it says yes), and refuses another directory and an older start.
//
// A peer that never met the lost directory could not tell. So a directory is
// blank at its birth, and stays silent (nothing is sent, what comes is
// dropped) until every peer has said yes to it:
//
//	          every peer said yes, on disk
//	blank --------------------------------> admitted
//	  |                                        |
//	  |  a peer has met another directory      |  a peer has met a newer start
//	  v  or start of this node                 v  or another directory
//	failed                                   failed
//
// Invariants:
//
//  1. A yes is given only after what was met is on disk.
//  2. A directory that was ever admitted was met by every peer. So a member
//     that lost it is refused by every one of them, for ever.
//  3. Frames pass only between an admitted node and the newest start of a peer.
//
// What it can't see: a copy of a running directory that starts for the first
// time counts as the node's newest start, and the running node is then refused.
// A virtual machine that is set back and goes on without a new start of the
// process is not seen at all.
//
// Package coordinator is the only caller. The handshake itself is package
// transport's.
package admission
