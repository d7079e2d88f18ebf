package explore

import "time"

// Config is a small world: who asks for what, and how much may go wrong.
// What is not bounded here (delay, loss, order and repetition of messages,
// the lag of a replica up to Lag) may happen any number of times.
type Config struct {
	Name string
	// T is the TTL of every request, in units of time. A unit is a nanosecond,
	// so that the jitter of retries, which is below T/32, rounds to nothing.
	T time.Duration
	// Rates is how many units the clock of each node counts in a unit of true
	// time; zero is one.
	Rates [nodeCount]int
	// Sparse says that a hub does not look at its clock for a retry alone. It
	// retries when there is another reason to look.
	Sparse bool
	// Asks is what the callers of each node ask for, in this order; Again is
	// what they ask for after a restart.
	Asks, Again [nodeCount][]Ask
	// Batches is how many numbers a start of a node may use, its announcement
	// included. One that would use another one falls silent for good: that is
	// how a node dies here.
	Batches [nodeCount]int
	// Memory is how many batches of a node the network still has, and may
	// deliver again, that are older than the last one in the log.
	Memory int
	// Lag is how many entries a replica may be behind the log.
	Lag int
	// How often each of these may happen: a new leader, a snapshot installed,
	// a hub that does not run while time passes, a wait withdrawn, a restart
	// of a node.
	Leaders, Installs, Rests, Cancels int
	Restarts                          [nodeCount]int
	// HealEvery is of how many states one is brought to rest: 1 is all.
	HealEvery int
	// Meets are the notes that the search has to come across.
	Meets []Note
}

// Ask is one call of a node.
type Ask struct {
	Keys  string // one letter each
	Try   bool
	Limit time.Duration
}

func (c *Config) rate(node int) time.Duration { return time.Duration(max(1, c.Rates[node])) }
