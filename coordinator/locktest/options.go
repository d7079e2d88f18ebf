package locktest

import (
	"log/slog"
	"time"

	"github.com/palisade-go/palisade/coordinator"
)

// ElectionTimeout is what a cluster of several nodes is opened with: short,
// but not so short that a busy machine of two cores takes a slow node for a
// dead one. A cluster of one has coordinator.SingleElectionTimeout.
const ElectionTimeout = 400 * time.Millisecond

// TTL is what a cluster is opened with: how long its leases live without
// WithTTL. MinTTL is the shortest that its acquires may ask for.
const (
	TTL    = 10 * ElectionTimeout
	MinTTL = 4 * ElectionTimeout
)

// Groups is how many groups a cluster has.
const Groups = 3

// Option changes a cluster.
type Option func(*options)

type options struct {
	tcp             bool
	seed            int64
	configure       []func(node int, cfg *coordinator.Config)
	snapshotEntries uint64
	placement       bool
	logger          *slog.Logger
}

// WithTCP connects the nodes over TCP on free ports of 127.0.0.1, as nodes of
// production are. Its faults are not the kit's to set: Cut and its like fail
// the test. Default: a network in memory.
func WithTCP() Option { return func(o *options) { o.tcp = true } }

// WithSeed fixes what the network's faults draw: which frames are dropped or
// doubled, and how long they are delayed. Default: another one each time. It
// is logged when the test fails.
func WithSeed(seed int64) Option { return func(o *options) { o.seed = seed } }

// WithConfig changes the configuration with which a node is opened, each time
// it is. Default: ElectionTimeout, TTL and Groups are those of this package,
// and everything else is coordinator's default. Dir, Cluster, NodeID and Peers
// are given; a test that changes them knows what it does. Several WithConfig
// are applied in order.
func WithConfig(change func(node int, cfg *coordinator.Config)) Option {
	return func(o *options) { o.configure = append(o.configure, change) }
}

// WithSnapshotEntries makes a group take a snapshot each n log entries, so that
// a node that was away for longer catches up from one. Default: the engine's
// setting, which a test hardly reaches.
func WithSnapshotEntries(n uint64) Option { return func(o *options) { o.snapshotEntries = n } }

// WithPlacement lets the node that a group serves most come to lead it, as nodes of
// production do. Default: a leader changes when a test moves it, or when it fails.
func WithPlacement() Option { return func(o *options) { o.placement = true } }

// WithLogger takes what the nodes log, where WithConfig sets no other. Default:
// from the level info on it is kept, and logged when the test fails.
func WithLogger(l *slog.Logger) Option { return func(o *options) { o.logger = l } }
