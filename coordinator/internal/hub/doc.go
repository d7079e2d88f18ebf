// Package hub settles what one node asked of one group.
//
// It joins the batcher (what is sent), the keeper (what may be trusted) and
// the ordered stream of the group's events, and tells the shell around it
// what became of each request. It is the client half of the protocol; the
// lock machine is the other half.
//
// A request goes this way:
//
//	           Queued            Granted
//	asked ------------> queued ------------> held
//	| | \                |                   | |
//	| |  \ Refused       | Cancel            | | lost: window, expiry, limit
//	| |   +--> (over)    v                   | v
//	| +-------------> leaving <--------------+ Release
//	|     Cancel       ^ |
//	+------------------+ |  the Cancel or Release is seen applied
//	 came too late       v
//	                   (over), or asked again if it came too late
//
// Rules:
//
//  1. A request is settled only by the log: by an event, or by a state that
//     covers the entry (Installed). What an attempt returns is a hint.
//  2. Events at or below the index of the state last installed are dropped,
//     and a state below the last event is not used.
//  3. An acquire that turns out dead is asked again under a new seq, if its
//     caller still waits; a seq is never sent in two batches.
//  4. A lease or place that comes too late to be trusted is given back at
//     once, and asked for again when the group has it back, if its caller
//     still waits. One that comes for nobody is given back too.
//  5. What the state holds for this incarnation and the hub does not know is
//     released.
//  6. A node that has seen none of its batches applied for the pace uses no
//     new numbers but for Release, Cancel and Leave, so that a stalled
//     replica does not keep its node's presence alive.
//  7. A try that is refused for nothing but what this node is giving back is
//     asked again: it comes behind the Release then, wherever the Release was
//     when it was refused.
//
// The shell may Hold batches back for a moment. No window gets shorter by it.
//
// The package is pure: no clock, goroutine or channel. Every input carries
// the time; the effects it caused are taken with Effects. One caller at a
// time.
package hub
