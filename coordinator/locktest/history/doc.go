// Package history checks what a program did with locks against the contract.
//
// A test records the calls of its clients: when each was made, when it
// returned, what it said. Check then looks for an order of the operations, each
// at some moment between its call and its return, in which the contract holds.
// If there is none, a guarantee was broken. It finds what assertions inside a
// program miss: each process can be right by itself, and two of them wrong
// together.
//
//	recorder := history.NewRecorder()
//	client := recorder.Client(node)           // a goroutine each
//	lease, err := client.Acquire(ctx, "key")
//	…
//	err = lease.Release(ctx)
//	…
//	require.NoError(t, history.Check(recorder.Records(), time.Minute))
//
// # What is checked
//
//	a key       at most one lease owns it at a time (G1); a lease owns it from
//	            some moment of the acquire that returned it, and to the last
//	            moment at which its holder still trusted it at least (G3); tokens
//	            rise from grant to grant (G2); the keys of one acquire are owned
//	            together at some moment of it (G8)
//	a try       that was refused as busy had a reason: another request for one
//	            of its keys was under way, or held it
//	a resource  a write is accepted if its token is the greatest accepted so far
//	            or greater, and refused as stale only if it is lower; a read
//	            returns the last write that was accepted (package token)
//
// A call whose outcome is unknown may have taken effect at any moment from its
// call on, or never. An acquire that returned an error leaves nothing (G10): if
// it does, a later acquire of the key does not return, which is for the test to
// bound.
//
// The order in which requests are served (G7) can't be seen from outside, as the
// calls overlap, and is not checked here.
//
// # Deciding
//
// The search is that of porcupine, for each key and resource by itself; keys
// that were taken together are searched together. It can take exponential time.
// A search that does not end in time is ErrUndecided: it proves nothing and is
// no success.
//
// # Clocks beyond the bound
//
// A holder whose clock is frozen, or more than 5 % slower than true, may learn
// too late that its lease is over, and so may any holder if a leader's clock is
// more than 5 % fast: then G3 does not hold, by design. What the holder recorded
// by Held, Err or Release has it trust a lease that is over, and Check reports a
// violation that is no fault of the coordinator. A test with locktest's
// Clock.Freeze, or such a rate, has two ways:
//
//   - it checks only the records of Kind Write and Read, which a guard keeps
//     right on any clock;
//   - it calls Clock.Advance with twice the TTL of the lease before the holder
//     asks, so that the holder learns of the loss.
//
// # Processes that die
//
// A process that is killed takes with it what it has not written. NewJournal
// makes a Recorder that writes each call before it is made, and each grant and
// each answer of a lease as it comes; ReadJournal reads what is there, a call
// that has not returned as one of unknown outcome. A long run takes new keys and
// new journals from time to time, and checks what is over: the search of one
// history of hours may never end.
//
// Records are plain values, with a form in JSON, on the clock that all processes
// of a machine share (CLOCK_BOOTTIME on Linux). So those of several processes
// can be checked together.
package history
