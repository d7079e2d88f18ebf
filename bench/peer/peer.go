package peer

import (
	"context"
	"time"

	"github.com/palisade-go/palisade/bench/crew"
)

// Peer is one of those that are compared.
type Peer interface {
	// Name is one word, as the flag -peers has it.
	Name() string
	// Version is what is measured.
	Version() string
	// Missing says what is not installed here and how to get it; "" when all
	// is there.
	Missing() string
	// Open starts a cluster with an empty state and waits until it serves.
	// What fails leaves nothing running.
	Open(ctx context.Context, s Setup) (Cluster, error)
}

// Setup is how a cluster is to be opened.
type Setup struct {
	// Dir is an empty directory for all that the cluster writes.
	Dir string
	// Groups is over how many Raft groups the keys are spread, for a peer
	// that has several. Default: the peer's own.
	Groups int
}

// Grouped is a Peer that spreads its keys over Raft groups.
type Grouped interface {
	// DefaultGroups is how many it has by itself.
	DefaultGroups() int
}

// Members is how many members a cluster has whose peer replicates.
const Members = 3

// TTL is the time to live of sessions and leases, unless a workload is about it.
const TTL = 15 * time.Second

// Cluster is a peer that runs.
type Cluster interface {
	// Sites are where clients live: three, one for each member if there are
	// three.
	Sites() []Site
	// Processes are the members' process ids.
	Processes() []int
	// Close ends all members. It is called once.
	Close() error
}

// Site is a place with workers: crew.Site, or one in another process.
type Site interface {
	// Ready opens what some workers need.
	Ready(ctx context.Context, workers int) error
	// Run carries out a plan.
	Run(ctx context.Context, p crew.Plan) (crew.Tally, error)
}

// Failing is a Cluster whose leader can be killed. Site i is at member i.
type Failing interface {
	// Leader returns the member that leads for a key, from 0.
	Leader(ctx context.Context, key string) (int, error)
	// Kill ends a member with SIGKILL, and returns when it is gone.
	Kill(member int) error
	// Revive starts it again, and waits until it serves.
	Revive(ctx context.Context, member int) error
}

// Holding is a Cluster of which a holder can be killed.
type Holding interface {
	// Hold takes a key for good in a process that can be killed, with a TTL.
	// That process is not the one that leads for the key.
	Hold(ctx context.Context, key string, ttl time.Duration) (Holder, error)
}

// Holder is a process that holds a key.
type Holder interface {
	// Site is where no client of this process lives.
	Site() Site
	// Kill ends the process with SIGKILL, and returns when it is gone.
	Kill() error
	// Restore makes the cluster whole again.
	Restore(ctx context.Context) error
}
