// Package inject hands the surroundings of a node to coordinator.Open: what
// the test kit replaces, and users have no say in. It travels in the context,
// so that the public Config needs no test knobs and there is no global state.
package inject

import (
	"context"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/diskspace"
	"github.com/palisade-go/palisade/coordinator/internal/raftnode"
	"github.com/palisade-go/palisade/transport"
)

// Env is the surroundings of a node.
type Env struct {
	// Clock is what all windows and deadlines are counted with; nil: the
	// machine's.
	Clock clock.Clock
	// Wall is the wall clock shown to others; nil: the machine's.
	Wall func() time.Time
	// Network makes a node a member of the network that carries the links
	// between nodes; nil: TCP.
	Network func(transport.Member) (transport.Network, error)
	// SnapshotEntries is how many entries lie between snapshots; 0: the
	// engine's setting.
	SnapshotEntries uint64
	// LeadersStay keeps the node from asking for the leadership of the groups that
	// serve it most.
	LeadersStay bool
	// Gauge reads how much disk space is free; nil: the operating system's.
	Gauge diskspace.Gauge
	// LogFS and StoreFS hold the files of the Raft log and of the machines,
	// EngineFS what the engine keeps besides; nil: the operating system's.
	LogFS, StoreFS vfs.FS
	EngineFS       raftnode.FS
	// Moved is called whenever the local replica of a group has applied an
	// entry, has installed a state or knows of another leader. It must not
	// block. nil: nobody wants to know.
	Moved func()
	// Opened is told by Open what else can be done with the node; nil:
	// nobody wants to know.
	Opened func(Controls)
}

// Controls is what the test kit may do with an open node, beyond the public
// API.
type Controls struct {
	// Kill stops the node as the death of its process would: nobody is told,
	// nothing is handed over.
	Kill func() error
	// Group returns the group that a key belongs to, from 1.
	Group func(key string) int
	// Leader returns who leads a group as far as the local replica knows, 0
	// for nobody, and in which term.
	Leader func(group int) (leader, term uint64)
	// Dump returns the state of a group's local replica, readable and the
	// same on all replicas at the same index.
	Dump func(group int) (index uint64, dump string, err error)
	// Lead asks for the leadership of a group to be moved to a node.
	Lead func(group int, to uint64) error
	// Faults counts what happened to a group's local replica.
	Faults func(group int) Faults
}

// Faults are counters by which a test shows that its fault happened.
type Faults struct {
	LeaderChanges, ExpiriesProposed, SweepsProposed, SnapshotsInstalled, SnapshotsCreated uint64
}

type envKey struct{}

// With returns a context that carries env to Open.
func With(ctx context.Context, env Env) context.Context {
	return context.WithValue(ctx, envKey{}, env)
}

// From returns the surroundings that a context carries, completed with the
// machine's own.
func From(ctx context.Context) Env {
	env, _ := ctx.Value(envKey{}).(Env)
	if env.Clock == nil {
		env.Clock = clock.System{}
	}
	if env.Wall == nil {
		env.Wall = time.Now
	}
	if env.Gauge == nil {
		env.Gauge = diskspace.Free
	}
	if env.Moved == nil {
		env.Moved = func() {}
	}
	return env
}
