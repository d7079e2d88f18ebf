package peer

import (
	"context"
	"time"
)

// Weight is what a member has in memory, and what for.
type Weight struct {
	Heap, Stacks uint64 // bytes in use after a garbage collection
	Leases       int    // of all members
	Waits        int
	// Batches are the log entries that this member has asked for since it was
	// opened.
	Batches uint64
}

// Load is how many keys a member is to take and hold, or how many requests it
// puts in line.
type Load struct {
	Prefix string
	Count  int
	// Lines is over how many keys requests in line are spread.
	Lines int
	TTL   time.Duration
}

// Started is how a member came up again.
type Started struct {
	// Took is the time from the start of its process until it was ready.
	Took time.Duration
	// Opened is the time from then until it had its state in memory, before it
	// took part.
	Opened time.Duration
	// Leases were there at its start: in its files, or in its log.
	Leases int
}

// Loading is a Cluster whose members can be filled and weighed.
type Loading interface {
	// Fill takes keys at a member and holds them.
	Fill(ctx context.Context, member int, l Load) error
	// Queue puts requests in line at a member, for keys that are held.
	Queue(ctx context.Context, member int, l Load) error
	// Leave takes the requests in line at a member back.
	Leave(ctx context.Context, member int) error
	// Weigh returns the weight of each member.
	Weigh(ctx context.Context) ([]Weight, error)
	// Restart kills all members, starts them, and waits until they serve.
	Restart(ctx context.Context) ([]Started, error)
}
