// Package crew runs the workers of a benchmark, where a peer's clients live: in
// the benchmark's own process for a lock server, in the node's for a library.
//
// A Site has some workers, each with a Locker of its own. A Plan says how many
// of them take which keys for how long, and a Tally what came of it. Instants
// are nanoseconds of the machine's monotonic clock, which all its processes
// share, so that what one process did can be placed between two events that
// another one saw.
package crew
