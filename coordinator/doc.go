// Package coordinator is a lock coordinator that lives inside a Go program:
// leases, fencing tokens, fair queues and ordered acquisition of several keys,
// over many Raft groups, with no server to run.
//
// Every application node opens one Coordinator. With a directory alone it is
// a single node that works at once; with Peers it is one of 3, 5 or 7.
//
//	c, err := coordinator.Open(ctx, coordinator.Config{Dir: dir})
//	lease, err := c.Acquire(ctx, "invoice-export", coordinator.WithTTL(15*time.Second))
//	defer lease.Release(ctx)
//	res, err := db.ExecContext(lease.Context(), `UPDATE … WHERE id=$3 AND last_fence<=$2`, …, lease.Token(), id)
//
// What each of the three parts of a lock is for:
//
//   - The lease is permission to try, for a while. Its node renews it; when
//     the node is not heard for its TTL, the key goes on to the next in line.
//     The holder stops trusting it earlier, by its own clock alone.
//   - The lease's identity is that of one acquire, so a release never touches
//     a lease of somebody else, nor a later one of its own.
//   - The fencing token lets the resource refuse a holder that went on
//     although its lease had ended: after a pause, say. A lock without a
//     check at the resource can't do that; see package token.
//
// Calls return an *Error, which says what is known of the outcome. Nothing
// panics on bad input, and nothing waits past its context.
//
// How it works inside: an acquire is checked (request.go) and handed to its
// key's group (group.go), whose goroutine feeds the hub; the hub's batches go
// to the log through internal/raftnode, and what every replica's lock machine
// made of them comes back as events, which end in the caller's channel
// (call.go) and make an ownership (ownership.go). Observers are told of it
// through a feed (trail.go, feed.go).
package coordinator
