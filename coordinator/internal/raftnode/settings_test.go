package raftnode

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/lni/dragonboat/v4/config"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/raftlog"
	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/transport"
)

// TestSettingsThatADirectoryIsBornWith pins what can never change: a node
// with other values refuses its directory, or ends the process under load.
func TestSettingsThatADirectoryIsBornWith(t *testing.T) {
	require.EqualValues(t, 2, execShards)
	require.EqualValues(t, 1, logStores)
	require.Zero(t, execShards%logStores, "one must divide the other")
	require.EqualValues(t, "palisade-raftlog", raftlog.Name)
	require.EqualValues(t, 0x50520001, raftlog.BinaryFormat)
	require.EqualValues(t, 4096, sessionsMax)
	require.EqualValues(t, 48, entryBatch)
	require.Equal(t, fmt.Sprintf("dragonboat/4 exec=%d logstore=%s logstores=%d", execShards, raftlog.Name, logStores), EngineConstants)
}

func TestSettingsOfTheHost(t *testing.T) {
	cfg := Config{
		Node: 2, Members: []statemachine.NodeID{1, 2, 3}, Groups: 4, Dir: "d", Deployment: 7, HostID: hostID,
		Address: "app-2:7400", Listen: ":7400", Network: transport.NewMemory(0), Election: time.Second,
	}
	cfg.LogFS, cfg.Logger = vfs.NewMem(), slog.Default()
	events, places := &listener{}, &registry{}
	require.Equal(t, config.NodeHostConfig{
		DeploymentID:        7,
		NodeHostID:          hostID(2),
		NodeHostDir:         "d",
		RTTMillisecond:      100,
		RaftAddress:         "app-2:7400",
		RaftEventListener:   events,
		SystemEventListener: events,
		MaxSendQueueSize:    128 << 20,
		MaxReceiveQueueSize: 128 << 20,
		Expert: config.ExpertConfig{
			LogDBFactory: raftlog.NewFactory(raftlog.Options{FS: cfg.LogFS, Logger: cfg.Logger}),
			LogDB:        config.LogDBConfig{Shards: 1},
			Engine: config.EngineConfig{
				ExecShards: 2, CommitShards: 1, ApplyShards: 4, SnapshotShards: 4, CloseShards: 4,
			},
			NodeRegistryFactory: places,
			TransportFactory: &linkFactory{
				network: cfg.Network, listen: ":7400", address: "app-2:7400",
				node: 2, members: cfg.Members, groups: 4, election: time.Second,
			},
		},
	}, cfg.hostConfig(events, places))
}

func TestSettingsOfAReplica(t *testing.T) {
	cfg := Config{Node: 2, Election: time.Second}
	settings := cfg.replicaConfig(3)
	require.NoError(t, settings.Validate())
	require.Equal(t, config.Config{
		ShardID:                3,
		ReplicaID:              2,
		CheckQuorum:            true,
		PreVote:                true,
		OrderedConfigChange:    true,
		ElectionRTT:            10,
		HeartbeatRTT:           1,
		SnapshotEntries:        cfg.snapshotEntries(3),
		CompactionOverhead:     cfg.snapshotEntries(3) / 4,
		MaxInMemLogSize:        256 << 20,
		DisableAutoCompactions: true,
	}, settings)
}

func TestTickIsATenthOfTheElectionTimeoutInWholeMilliseconds(t *testing.T) {
	for election, tick := range map[time.Duration]time.Duration{
		time.Second:            100 * time.Millisecond,
		335 * time.Millisecond: 33 * time.Millisecond,
		50 * time.Millisecond:  5 * time.Millisecond,
		time.Millisecond:       time.Millisecond,
		3 * time.Second:        300 * time.Millisecond,
	} {
		require.Equal(t, tick, Config{Election: election}.tick(), "%v", election)
	}
}

// TestHeartbeatsComeWithEachTickAndTenInAnElectionTimeout pins what the cost of an
// idle cluster rests on, and that ten heartbeats in a row have to be missed before
// anybody stands for election, or nearly: the engine warns below ten.
func TestHeartbeatsComeWithEachTickAndTenInAnElectionTimeout(t *testing.T) {
	require.EqualValues(t, 1, heartbeatTicks, "with more, groups take turns, and each turn is a frame to each peer")
	require.EqualValues(t, 10, electionTicks/heartbeatTicks)
}

func TestLogsOfDifferentGroupsAreCutAtDifferentTimes(t *testing.T) {
	seen := make(map[uint64]bool)
	for group := statemachine.GroupID(1); group <= 8; group++ {
		entries := Config{Node: 1}.snapshotEntries(group)
		require.GreaterOrEqual(t, entries, uint64(15_000))
		require.LessOrEqual(t, entries, uint64(25_000))
		require.Equal(t, entries, Config{Node: 1}.snapshotEntries(group), "it must be the same at each start")
		seen[entries] = true
	}
	require.Len(t, seen, 8)
	require.EqualValues(t, 1, Config{Node: 1, SnapshotEntries: 1}.snapshotEntries(1))
}

// The engine says that a proposal has timed out up to three ticks late, and is to be
// heard first.
func TestTheEngineMaySayThatTimeIsUp(t *testing.T) {
	for election, grace := range map[time.Duration]time.Duration{
		100 * time.Millisecond: time.Second,
		time.Second:            time.Second,
		10 * time.Second:       4 * time.Second,
		time.Minute:            24 * time.Second,
	} {
		require.Equal(t, grace, Config{Election: election}.outcomeGrace(), "%v", election)
	}
}
