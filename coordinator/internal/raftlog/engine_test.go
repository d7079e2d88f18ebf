package raftlog

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	dragonboat "github.com/lni/dragonboat/v4"
	"github.com/lni/dragonboat/v4/config"
	"github.com/lni/dragonboat/v4/raftio"
	"github.com/lni/dragonboat/v4/statemachine"
	"github.com/lni/dragonboat/v4/tools"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/internal/porttest"
)

// patience bounds every wait for the engine. It is far above what it needs on a
// busy machine; a test that reaches it has failed.
const patience = 2 * time.Minute

// tally is a machine for the engine: it counts commands and keeps the last number
// of each client.
type tally struct{ count, last uint64 }

func newTally(uint64, uint64) statemachine.IStateMachine { return &tally{} }

func (m *tally) Update(e statemachine.Entry) (statemachine.Result, error) {
	m.count++
	m.last = max(m.last, binary.BigEndian.Uint64(e.Cmd))
	return statemachine.Result{Value: m.count}, nil
}

func (m *tally) Lookup(any) (any, error) { return *m, nil }

func (m *tally) SaveSnapshot(w io.Writer, _ statemachine.ISnapshotFileCollection, _ <-chan struct{}) error {
	return binary.Write(w, binary.BigEndian, []uint64{m.count, m.last})
}

func (m *tally) RecoverFromSnapshot(r io.Reader, _ []statemachine.SnapshotFile, _ <-chan struct{}) error {
	var both [2]uint64
	err := binary.Read(r, binary.BigEndian, &both)
	m.count, m.last = both[0], both[1]
	return err
}

func (m *tally) Close() error { return nil }

// host is a NodeHost of the engine and what is needed to start it again. All hosts
// have a replica of each group, with the host's number.
type host struct {
	t       testing.TB
	dir     string
	id      uint64
	members map[uint64]string
	groups  int
	factory config.LogDBFactory // nil: the engine's own
	fs      config.IFS          // of the engine; nil: the operating system's
	// snapshots is after how many entries there is one.
	snapshots uint64
	nh        *dragonboat.NodeHost
}

// newHosts makes n hosts, which do not run.
func newHosts(t testing.TB, n, groups int, factory func() config.LogDBFactory) []*host {
	dir := t.TempDir()
	members := map[uint64]string{}
	for id := uint64(1); id <= uint64(n); id++ {
		members[id] = porttest.Take(t, 1)[0]
	}
	var hosts []*host
	for id := uint64(1); id <= uint64(n); id++ {
		h := &host{t: t, dir: filepath.Join(dir, fmt.Sprint(id)), id: id, members: members, groups: groups, factory: factory(), snapshots: 40}
		hosts = append(hosts, h)
		t.Cleanup(h.stop)
	}
	return hosts
}

func (h *host) config() config.NodeHostConfig {
	store := config.GetTinyMemLogDBConfig()
	store.Shards = 1
	return config.NodeHostConfig{
		NodeHostDir: h.dir, RaftAddress: h.members[h.id], RTTMillisecond: 20, DeploymentID: 1,
		Expert: config.ExpertConfig{
			LogDBFactory: h.factory, LogDB: store, FS: h.fs,
			Engine: config.EngineConfig{ExecShards: 2, CommitShards: 1, ApplyShards: 2, SnapshotShards: 2, CloseShards: 2},
		},
	}
}

func (h *host) start() {
	h.t.Helper()
	var err error
	h.nh, err = dragonboat.NewNodeHost(h.config())
	require.NoError(h.t, err)
	for group := uint64(1); group <= uint64(h.groups); group++ {
		members := h.members
		if h.nh.HasNodeInfo(group, h.id) {
			members = nil
		}
		require.NoError(h.t, h.nh.StartReplica(members, false, newTally, config.Config{
			ShardID: group, ReplicaID: h.id, ElectionRTT: 20, HeartbeatRTT: 2,
			CheckQuorum: true, PreVote: true, OrderedConfigChange: true, SnapshotEntries: h.snapshots, CompactionOverhead: 10,
		}))
	}
}

func (h *host) stop() {
	if h.nh != nil {
		h.nh.Close()
		h.nh = nil
	}
}

// propose proposes a number, again and again until it was applied.
func (h *host) propose(group, number uint64) {
	h.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		_, err := h.nh.SyncPropose(ctx, h.nh.GetNoOPSession(group), binary.BigEndian.AppendUint64(nil, number))
		cancel()
		if err == nil {
			return
		}
		require.Less(h.t, time.Now(), deadline, "%v", err)
		require.True(h.t, dragonboat.IsTempError(err), "%v", err)
	}
}

// tally returns what a host has applied of a group, not older than the call.
func (h *host) tally(group uint64) tally {
	h.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		value, err := h.nh.SyncRead(ctx, group, nil)
		cancel()
		if err == nil {
			return value.(tally)
		}
		require.Less(h.t, time.Now(), deadline, "%v", err)
	}
}

func ours() config.LogDBFactory { return NewFactory(Options{}) }

// TestTheEngineOnThisStore: three nodes, restarts one by one and of all, with
// snapshots and removed entries in between.
func TestTheEngineOnThisStore(t *testing.T) {
	const groups = 3
	hosts := newHosts(t, 3, groups, ours)
	number := uint64(0)
	some := func(on *host, n int) {
		for range n {
			number++
			for group := uint64(1); group <= groups; group++ {
				on.propose(group, number)
			}
		}
	}
	check := func() {
		t.Helper()
		for group := uint64(1); group <= groups; group++ {
			first := hosts[0].tally(group)
			require.Equal(t, number, first.last)
			require.GreaterOrEqual(t, first.count, number)
			for _, h := range hosts[1:] {
				require.Equal(t, first, h.tally(group), "host %d, group %d", h.id, group)
			}
		}
	}
	for _, h := range hosts {
		h.start()
	}
	some(hosts[0], 60)
	check()
	for i, h := range hosts {
		h.stop()
		some(hosts[(i+1)%3], 60) // more than it can catch up with entries
		h.start()
		check()
	}
	for _, h := range hosts {
		h.stop()
	}
	for _, h := range hosts {
		removed, snapshots := 0, 0
		s, err := open(nodeDir(t, h), Options{}, memTableBytes)
		require.NoError(t, err)
		for group := uint64(1); group <= groups; group++ {
			f, known, err := s.load(replicaID{group, h.id})
			require.NoError(t, err)
			require.True(t, known)
			if f.removed > 0 {
				removed++
			}
			if f.snapshot > 0 {
				snapshots++
			}
			list, _, err := s.IterateEntries(nil, 0, group, h.id, f.removed+1, f.last+1, 1<<40)
			require.NoError(t, err)
			require.Len(t, list, int(f.last-f.removed))
		}
		require.NoError(t, s.Close())
		require.Positive(t, removed, "no entries were removed")
		require.Positive(t, snapshots, "no snapshot was saved")
		h.start()
	}
	some(hosts[2], 5)
	check()
}

// nodeDir is the directory that the engine gives to its log store.
func nodeDir(t testing.TB, h *host) string {
	t.Helper()
	name, err := os.Hostname()
	require.NoError(t, err)
	return filepath.Join(h.dir, name, fmt.Sprintf("%020d", 1))
}

// TestRemovalAndImport: through the engine, a replica goes, and another begins
// anew from a snapshot that was exported.
func TestRemovalAndImport(t *testing.T) {
	h := newHosts(t, 1, 2, ours)[0]
	h.start()
	for number := uint64(1); number <= 50; number++ {
		h.propose(1, number)
		h.propose(2, number)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	export := t.TempDir()
	index, err := h.nh.SyncRequestSnapshot(ctx, 1, dragonboat.SnapshotOption{Exported: true, ExportPath: export})
	require.NoError(t, err)
	for number := uint64(51); number <= 60; number++ {
		h.propose(1, number)
	}
	require.NoError(t, h.nh.StopShard(2))
	require.NoError(t, h.nh.SyncRemoveData(ctx, 2, 1))
	require.False(t, h.nh.HasNodeInfo(2, 1))
	require.Equal(t, []raftio.NodeInfo{{ShardID: 1, ReplicaID: 1}}, h.nh.GetNodeHostInfo(dragonboat.DefaultNodeHostInfoOption).LogInfo)
	reclaimed, err := h.nh.RequestCompaction(2, 1)
	require.NoError(t, err)
	<-reclaimed.ResultC()
	h.stop()

	require.NoError(t, tools.ImportSnapshot(h.config(), filepath.Join(export, fmt.Sprintf("snapshot-%016X", index)), h.members, 1))
	h.groups = 1
	h.start()
	require.Equal(t, tally{count: 50, last: 50}, h.tally(1), "what came after the snapshot is gone")
	h.propose(1, 99)
	h.stop()
	h.start()
	require.Equal(t, tally{count: 51, last: 99}, h.tally(1))
}
