// Package keeper decides, for what one node has in one group, when to renew
// and when to stop trusting.
//
// With T the TTL of a lease, H its limit, and firstSend(b) the instant read
// before batch b of this node was first handed to the engine:
//
//	window end = min( firstSend(last own batch seen applied) + 0.9*T,
//	                  firstSend(the batch that the lease record names) + 0.9*H )
//
// Why it holds: no replica proposes the expiry earlier than T after it
// applied that batch, which is not before the batch was first sent. With
// clocks that run up to 5 % off either way, 0.9*T on a slow clock is at most
// 0.9/0.95*T = 0.947*T of true time, and T on a fast clock is at least
// T/1.05 = 0.952*T. Counting from the reply or from a retry would break it:
// the first attempt may be the one that was applied.
//
// Rules:
//
//  1. Every input brings the time, and what is over by then is over before
//     the input counts. A lease that was lost stays lost.
//  2. While anything is kept, a batch goes out at least every quarter of the
//     pace, the smallest T or H kept; an attempt that is not answered within
//     an eighth has failed.
//  3. All leases of a group share one number, the first send of the last
//     batch seen applied; so a renewal costs the same for one lease and for
//     a million.
//
// The package is pure: no clock, goroutine or channel. One caller at a time.
package keeper
