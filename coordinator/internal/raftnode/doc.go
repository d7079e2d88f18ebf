// Package raftnode runs the replicas of one node on the Raft engine. But for
// package raftlog, where the engine keeps its log, it is the only importer of the
// engine (github.com/lni/dragonboat/v4) and hides its names, its errors and its
// traps from the rest of the program.
//
// # Nouns
//
// A Node is one running engine with one replica of every group. A replica
// holds the group's machine and applies the log to it. The Sink is told what
// was applied. An office is what a replica enters when it leads: it proposes
// what package expiry says. The disk is watched for its free space: a node that
// is short of it offers its leaderships to others. A proposal is bytes handed to the engine; what
// became of it shows in the Sink, and the done function is a hint.
//
//	callers            engine goroutines                    own goroutines
//
//	Propose ---------> step worker (log, votes)
//	   |                   |
//	   |               apply worker ----> replica.Update
//	   |                   |                1 decode    2 apply to the machine
//	   |                   |                3 commit to the store
//	   |                   |                4 tell the Sink    5 wake the office
//	   +<-- done ----- waiter goroutine
//	Read ------------> step worker ....> confirmed ....> fn under the read lock
//
//	                   listener ----------> latest leader, queue --> herald --> Sink.Leader
//	                                              |
//	                                              +--> office: barrier, Due, proposals
//
// # Rules
//
//  1. The Sink hears of a batch after the store has it, in log order, and
//     never concurrently with itself.
//  2. No call into the engine races its Close: all pass the gate.
//  3. Update returns an error only for a failing store. Content never makes
//     one: an entry that does not decode is skipped alike on every replica.
//  4. The engine is started only on a directory whose marks were checked:
//     deployment, settings, and that the log and the store belong together.
//  5. A replica proposes what is due only in office, which it takes after a
//     barrier in the term in which it leads.
//
// # What it does not do
//
// It locks no directory: whoever calls Open has locked Config.Dir and owns
// Config.Store. It knows no keys, leases or callers, and retries nothing but
// reads.
//
// # What can't be helped
//
// The engine ends the process when its log or the store fails, or when it
// finds its own state contradictory; that happens in its goroutines and can't
// be turned into an error. The engine's logger belongs to the process, not to
// a Node; see enginelog.go.
package raftnode
