package raftnode

import (
	"time"

	"github.com/lni/dragonboat/v4/config"

	"github.com/palisade-go/palisade/coordinator/internal/raftlog"
	"github.com/palisade-go/palisade/statemachine"
)

// Settings of the engine. Those of the first part are written into the
// directory at its birth and can never change for it.
const (
	// execShards is how many workers write logs. They share the syncs of one
	// write-ahead log. logStores is one whatever their number; the engine asks
	// that one of the two divides the other.
	execShards = 2
	logStores  = 1
	// sessionsMax and entryBatch are what the engine was built with.
	sessionsMax = 4096
	entryBatch  = 48

	// electionTicks and heartbeatTicks divide the election timeout E: a tick
	// is E/10, and with each comes a heartbeat. Every tick wakes every replica,
	// so a finer one costs an idle cluster most of its processor time. And with
	// one heartbeat a tick those of all groups that a node leads go out together,
	// one frame to each peer, instead of one whenever some group's turn comes.
	//
	// A follower stands for election between the 10th and the 19th tick without a
	// heartbeat, so after 0.9*E to 1.9*E: docs/time.md.
	electionTicks  = 10
	heartbeatTicks = 1

	commitShards   = 1 // used only with commit notices, which are off
	applyShards    = 4
	snapshotShards = 4
	// closeShards bounds how many replicas close at once. The engine gives
	// all of them together 5 s.
	closeShards = 4

	// queueBytes bounds what waits for, and what came from, one peer. Past
	// it messages are dropped, so it is far above the largest batch.
	queueBytes = 128 << 20
	// logBytes bounds what a replica holds of its log in memory. Past it the
	// engine refuses proposals for ten election timeouts, so it is generous.
	logBytes = 256 << 20

	snapshotEntries = 20_000
)

// EngineConstants names the settings that a directory is bound to, for the
// birth certificate. Pinned by a test. The format of the log store is not one of
// them: it is recorded in the store, and a later version may bring it up to its
// own.
const EngineConstants = "dragonboat/4 exec=2 logstore=palisade-raftlog logstores=1"

// tick returns the engine's unit of time in whole milliseconds.
func (c Config) tick() time.Duration {
	return max((c.Election / electionTicks).Truncate(time.Millisecond), time.Millisecond)
}

// hostConfig returns the engine's settings for this node.
func (c Config) hostConfig(events *listener, registry config.NodeRegistryFactory) config.NodeHostConfig {
	host := config.NodeHostConfig{
		DeploymentID:        c.Deployment,
		NodeHostID:          c.HostID(c.Node),
		NodeHostDir:         c.Dir,
		RTTMillisecond:      uint64(c.tick().Milliseconds()),
		RaftAddress:         c.Address, // peers know this node by its NodeHostID
		RaftEventListener:   events,
		SystemEventListener: events,
		MaxSendQueueSize:    queueBytes,
		MaxReceiveQueueSize: queueBytes,
		NotifyCommit:        false,
		EnableMetrics:       false,
		Expert: config.ExpertConfig{
			LogDBFactory: raftlog.NewFactory(raftlog.Options{FS: c.LogFS, Logger: c.Logger}),
			LogDB:        config.LogDBConfig{Shards: logStores},
			Engine: config.EngineConfig{
				ExecShards:     execShards,
				CommitShards:   commitShards,
				ApplyShards:    applyShards,
				SnapshotShards: snapshotShards,
				CloseShards:    closeShards,
			},
			NodeRegistryFactory: registry,
			TransportFactory: &linkFactory{
				network: c.Network, listen: c.Listen, address: c.Address,
				node: c.Node, members: c.Members, groups: c.Groups, election: c.Election,
			},
			FS: c.FS,
		},
	}
	return host
}

// replicaConfig returns the engine's settings for the replica of a group.
func (c Config) replicaConfig(group statemachine.GroupID) config.Config {
	entries := c.snapshotEntries(group)
	return config.Config{
		ShardID:             uint64(group),
		ReplicaID:           uint64(c.Node),
		CheckQuorum:         true,
		PreVote:             true,
		OrderedConfigChange: true,
		Quiesce:             false,
		WaitReady:           false,
		ElectionRTT:         electionTicks,
		HeartbeatRTT:        heartbeatTicks,
		SnapshotEntries:     entries,
		CompactionOverhead:  max(entries/4, 1),
		MaxInMemLogSize:     logBytes,
		// The log store drops what was cut off in its own compactions. One asked
		// for after each cut would flush the table that all groups share.
		DisableAutoCompactions:  true,
		EntryCompressionType:    config.NoCompression,
		SnapshotCompressionType: config.NoCompression,
	}
}

// snapshotEntries spreads the cuts of different groups and nodes over a
// quarter of the interval each way, so that they do not sync all at once. It
// is the same at each start.
func (c Config) snapshotEntries(group statemachine.GroupID) uint64 {
	entries := c.SnapshotEntries
	if entries == 0 {
		entries = snapshotEntries
	}
	const steps = 16
	step := (uint64(group)*5 + uint64(c.Node)*3) % steps
	return max(entries-entries/4+entries/2*step/steps, 1)
}
