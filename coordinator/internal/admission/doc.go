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
//	failed                                   failed    (no frame passes any more)
//
// Invariants:
//
//  1. A yes is given only after what was met is on disk.
//  2. A directory that was ever admitted was met by every peer. So a member
//     that lost it is refused by every one of them, for ever.
//  3. Frames pass only between an admitted node and the newest start of a peer.
//
// What it can't see:
//
//   - a copy of a directory that was taken while its node ran, as a snapshot of
//     a volume is: it counts as the node's next start;
//   - an older copy, by a peer that never met the later starts. So every peer
//     is greeted at every start, and again now and then;
//   - two processes from copies of one directory in two halves of a partition;
//   - a virtual machine that is set back and goes on without a new start of
//     the process.
//
// Package coordinator is the only caller. The handshake itself is package
// transport's.
package admission
