// Package batcher numbers what a node asks of a group and keeps each batch
// until the group has answered for it.
//
// Words: a command waits (pending) until it is cut into a batch with the
// next number; the batch is then in flight until the log settles it. A retry
// is the same bytes under the same number, so it can't take effect twice.
//
// Rules:
//
//  1. Numbers of one incarnation rise by one and are never reused.
//  2. First-send times rise with the numbers, and a retry never moves one.
//  3. When number m is seen applied, every n < m in flight is dead: the group
//     will ignore it for ever. Its commands go back to the caller, who
//     decides what is still wanted.
//  4. What was withdrawn before it was cut is never sent.
//  5. Endings (Release, Cancel, Leave) go before Acquires, each in their order. A
//     dead ending that goes out again is behind no later Acquire then.
//  6. At most FlightsMax batches are in flight, each at most CommandsMax
//     commands and about BytesMax bytes, so that no log entry is long.
//
// The package is pure: no clock, goroutine or channel. One caller at a time.
package batcher
