// Package placement decides when a node asks to lead a group: when it is the one
// whose requests the group serves most. What a node asks of a group that it leads
// itself saves a way to another node and back.
//
// Every node sees from the log how many requests each node has, so each decides for
// itself and only for itself; no two can both be the one with most of them.
//
// # What a change of leader costs
//
// The engine's leader takes a wish to hand over at once, refuses proposals from then
// on, and tells the node that it may stand for election. That node does not stand
// while there is an entry that is committed and that it has not applied, and the
// leader goes on refusing for an election timeout before it takes proposals again.
// So a wish at the wrong moment costs the group an election timeout, and at the right
// one no more than an election. The right one is when nothing is in flight and
// nothing has been applied for a moment.
//
// Rules:
//
//  1. A node wishes to lead when, in each of Windows windows in a row, the group
//     served at least Least requests, and this node had Share of them or more.
//  2. Before it asks, it holds its own batches back, for a tenth of an election
//     timeout at most, and asks when all of them are settled and no entry came for a
//     fiftieth. If that does not come to be, it goes on and asks later.
//  3. After it has asked, it holds them back for a tenth of an election timeout once
//     more, or until a leader shows.
//  4. After a try, whatever ended it, it waits: Pause when it leads then, be it later
//     than it has held its batches for; otherwise twice as long as the time before,
//     from Pause up to PauseMax. So a load that goes to and fro moves the leader once
//     in a while at most, and a try that fails costs little in the long run.
//
// The package is pure: no clock, goroutine or channel. One caller at a time.
package placement
