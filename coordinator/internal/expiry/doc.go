// Package expiry decides what the leader of a group proposes on its own:
// that the requests of a node that is no longer heard from end, that a lease
// whose limit has passed ends, that what a gone incarnation left is swept,
// and that the group's machine version rises.
//
// # Nouns
//
// A Proposer belongs to one replica of one group. It notes, for each
// presence, the instant at which this replica applied its last batch
// (heard), and for each lease with a limit the instant at which this replica
// applied its grant. A replica is in office from the moment at which it knows
// that it leads and has applied all that earlier leaders committed, until it
// stops leading or stalls. A Plan is what a replica in office should propose
// now, and when to ask again.
//
//	          TakeOffice                    Due, after a stall
//	(idle) --------------> (in office) ---------------------------> (idle)
//	                        |        ^      LeaveOffice
//	                        +--Due---+
//
// # Rules
//
//  1. Requests of a node with TTL T are due at
//     min(max(heard+T, office+T/2), heard+2T).
//  2. The largest T that is due is proposed; it ends all with a lower TTL too.
//  3. A limit is due at grant+limit. It gets no grace from a change of leader.
//  4. What lower incarnations, or one that left, still have is due at once.
//  5. A proposal is made again when the retry interval is over and the state
//     still calls for it; when a slice of it took effect and left a rest, at
//     once.
//  6. Nothing is proposed outside office. A replica whose Due was not called
//     for more than a quarter of the smallest T has left office.
//  7. After Reset every presence counts as heard now, and every limit as
//     granted now: a restart or a snapshot shows what was applied, not when.
//
// # What it does not do
//
// It never decides: a command that it asks for names what it saw, and does
// nothing when the log says otherwise by then. So a Proposer that is late, or
// proposes twice, costs time and log entries, never a lease.
//
// # Concurrency
//
// The package is pure: it holds no goroutine, channel, mutex, context or
// clock. A Proposer is not safe for concurrent use.
package expiry
