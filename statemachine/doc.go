// Package statemachine is the lock machine: the pure function from the log of
// a group to who holds which key and who waits for it. All replicas of a group
// run it on the same entries and reach the same state.
//
// # Nouns
//
// A Machine is one group's state. A Batch is what one log entry carries: the
// Commands of one node, numbered, or those of the leader. A request asks for
// one or several claims (keys) at once; its LeaseID is node, incarnation and
// seq. Granted, it is a Lease with a token; in line, it is a Wait with a place
// in the queue of each of its keys. A Presence is what the group knows of a
// node. Events say what a batch did. Records are the machine's image on disk,
// one a thing.
//
// # The life of a request
//
//	                     Acquire
//	                        |
//	   nothing in the way   |   something in the way, Wait
//	    +-------------------+--------------------+
//	    |                   |                    |
//	    |                   | invalid, busy,     |
//	    |                   | queue full,        |
//	    |                   | exhausted          v
//	    |                   v               +--------+
//	    |              no trace, Refused    | in line| -- Cancel, Expire, Sweep --+
//	    |                                   +--------+                            |
//	    |                                        | first on all its keys,         |
//	    v                                        | none of them held              |
//	+-------+                                    |                                |
//	| lease | <----------------------------------+                                |
//	+-------+                                                                     |
//	    |                                                                         |
//	    +-- Release, Cancel, Expire, ExpireLimit, Sweep --> no trace, Ended <-----+
//
// A request is granted iff for all of its claims the key is not held and no
// other request is ahead in its queue: a place reserves. Whatever ends a
// request wakes, in the same command, those whose turn has come by it, in the
// order of their places. A request takes its place in all queues in one
// command, so of two requests the earlier is ahead everywhere and no cycle can
// form.
//
// # Invariants
//
// They hold between any two batches. Check verifies 1 to 11; a build with the
// tag invariants does so after each batch and panics. 12 and 13 are the tests'.
//
//  1. A key has at most one lease, and a lease holds all its keys.
//  2. Those in the line of a key stand in the order of their places, the lease
//     first.
//  3. No request is left waiting that could be granted, unless the token
//     counter has come to its end.
//  4. A waiter stands in the lines of all its keys; a lease at the front of all
//     of its.
//  5. Nothing is left of a free key, an ended request, a gone incarnation that
//     has nothing.
//  6. Every lease and wait belongs to a member's present incarnation or to a
//     lower one.
//  7. Tokens of leases are unique and not above the counter; waits have none.
//  8. Every count that is kept equals a recount.
//  9. Places are unique and not above the last given; within an owner and TTL
//     requests are linked by rising place.
//  10. Every request obeys the bounds of a command.
//  11. Whatever differs from the image is noted as changed.
//  12. Equal logs give equal events, equal dumps and equal images.
//  13. The state from an image at any index and the rest of the log equals the
//     state from the whole log; and the image kept by TakeChanges equals
//     Records.
//
// # What it does not do
//
// It knows no time: durations are data, and the leader proposes an Expire when
// one has passed. It does no I/O, starts no goroutine, takes no mutex, draws no
// random number and logs nothing. No result depends on the order of a map. It
// does not know which key belongs to which group.
//
// # Callers
//
// One caller at a time may change a machine; see Machine. Nothing recovers a
// panic but the two decoders, which touch no state: a machine that panicked is
// half changed, and its process must end.
package statemachine
