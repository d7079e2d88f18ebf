package raftlog

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/lni/dragonboat/v4/config"
	"github.com/lni/dragonboat/v4/plugin/tan"
	"github.com/lni/dragonboat/v4/plugin/tee"
	"github.com/lni/dragonboat/v4/raftio"
	"github.com/lni/dragonboat/v4/raftpb"
	"github.com/stretchr/testify/require"
)

// TestItDoesWhatTheModelDoes: random operations, and after each the reads of a
// replica and of the whole are those of the model.
func TestItDoesWhatTheModelDoes(t *testing.T) {
	rng := newRand(t)
	fs := vfs.NewMem()
	a := newAuthor(rng)
	var s *Store
	openStore := func() raftio.ILogDB {
		var err error
		s, err = open(testDir, Options{FS: fs}, smallMemTable)
		require.NoError(t, err)
		return s
	}
	count := conform(t, a, openStore, func() {
		got, err := dump(s, a.ids)
		require.NoError(t, err)
		require.Equal(t, a.model.dump(), got)
	}, *stepsFlag)
	for _, kind := range []string{"step", "snapshot", "remove entries", "bootstrap", "import", "remove", "compact", "open"} {
		require.Positive(t, count[kind], "nothing was tested of %q", kind)
	}
}

// TestTheEnginesStoresDoWhatTheModelDoes holds the model, and so this store,
// against the log stores that the engine brings with it, as far as they go.
func TestTheEnginesStoresDoWhatTheModelDoes(t *testing.T) {
	for _, c := range []struct {
		name    string
		factory config.LogDBFactory
		noState bool
	}{
		{"Tan", tan.Factory, false},
		// It ends the process when Tan and the sharded pebble differ, which they do
		// in whether the entry of the snapshot counts.
		{"TanAndShardedPebble", tee.TanPebbleLogDBFactory, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := newRand(t)
			a := newAuthor(rng)
			a.tame, a.noState = true, c.noState
			dir := t.TempDir()
			cfg := engineConfig(t, dir)
			conform(t, a, func() raftio.ILogDB {
				s, err := c.factory.Create(cfg, func(config.LogDBInfo) {}, []string{dir}, []string{dir})
				require.NoError(t, err)
				return s
			}, func() {}, *stepsFlag/5)
		})
	}
}

// conform makes the store do what the author writes. It returns how often it did
// what.
func conform(t *testing.T, a *author, openStore func() raftio.ILogDB, whole func(), steps int) map[string]int {
	count := map[string]int{}
	s := openStore()
	defer func() { require.NoError(t, s.Close()) }()
	for step := range steps {
		if a.rng.IntN(60) == 0 {
			count["open"]++
			require.NoError(t, s.Close())
			s = openStore()
		}
		op := a.next()
		var kind string
		for _, k := range []string{"step", "snapshot", "remove entries", "bootstrap", "import", "remove", "compact"} {
			if kind == "" && len(op.name) >= len(k) && op.name[:len(k)] == k {
				kind = k
			}
		}
		count[kind]++
		at := fmt.Sprintf("step %d: %s", step, op.name)
		require.NoError(t, op.call(s), at)
		compare(t, a, s, a.ids[a.rng.IntN(len(a.ids))], at)
		if step%20 == 0 {
			compareList(t, a, s, at)
			whole()
		}
	}
	return count
}

// compare compares what can be asked of a replica.
func compare(t *testing.T, a *author, s raftio.ILogDB, id replicaID, at string) {
	t.Helper()
	r := a.model.replica(id)
	ss, err := s.GetSnapshot(id.group, id.replica)
	require.NoError(t, err, at)
	require.Equal(t, r.snapshot.Index, ss.Index, at)
	require.Equal(t, r.snapshot.Filepath, ss.Filepath, at)
	require.Equal(t, r.snapshot.Membership.Addresses, ss.Membership.Addresses, at)

	b, err := s.GetBootstrapInfo(id.group, id.replica)
	if r.bootstrap == nil {
		require.ErrorIs(t, err, raftio.ErrNoBootstrapInfo, at)
	} else {
		require.NoError(t, err, at)
		require.Equal(t, r.bootstrap.Join, b.Join, at)
		if len(r.bootstrap.Addresses)+len(b.Addresses) > 0 {
			require.Equal(t, r.bootstrap.Addresses, b.Addresses, at)
		}
	}
	compareState(t, a, s, id, at)
	compareEntries(t, a, s, id, at)
}

func compareState(t *testing.T, a *author, s raftio.ILogDB, id replicaID, at string) {
	t.Helper()
	r := a.model.replica(id)
	if a.noState && r.snapshot.Index > 0 {
		return
	}
	state, err := s.ReadRaftState(id.group, id.replica, r.snapshot.Index)
	if !r.known {
		require.ErrorIs(t, err, raftio.ErrNoSavedLog, at)
		return
	}
	require.NoError(t, err, at)
	require.Equal(t, r.state, state.State, at)
	first := max(r.snapshot.Index, r.removed+1)
	if a.tame && state.EntryCount > 0 && r.last() > r.snapshot.Index {
		// Whether the entry of the snapshot counts is all the same to the engine.
		require.Contains(t, []uint64{first, r.snapshot.Index + 1}, state.FirstIndex, at)
		require.Equal(t, r.last(), state.FirstIndex+state.EntryCount-1, at)
		return
	}
	if r.last() == r.snapshot.Index || first > r.last() {
		require.Zero(t, state.EntryCount, at)
		return
	}
	require.Equal(t, first, state.FirstIndex, at)
	require.Equal(t, r.last()-first+1, state.EntryCount, at)
}

func compareEntries(t *testing.T, a *author, s raftio.ILogDB, id replicaID, at string) {
	t.Helper()
	r := a.model.replica(id)
	for range 4 {
		low, high, maxSize := a.bounds(r)
		want, wantSize := r.iterate(low, high, maxSize)
		got, size, err := s.IterateEntries([]raftpb.Entry{}, 0, id.group, id.replica, low, high, maxSize)
		require.NoError(t, err, at)
		require.Equal(t, brief(want), brief(got), "%s: entries %d to %d of at most %d bytes", at, low, high, maxSize)
		require.True(t, slices.EqualFunc(want, got, equalEntries), "%s: entries %d to %d of at most %d bytes", at, low, high, maxSize)
		require.Equal(t, wantSize, size, at)
	}
}

// brief says which entries these are.
func brief(list []raftpb.Entry) string {
	var out strings.Builder
	for _, e := range list {
		fmt.Fprintf(&out, "%d of term %d\n", e.Index, e.Term)
	}
	return out.String()
}

func equalEntries(a, b raftpb.Entry) bool {
	cmd := bytes.Equal(a.Cmd, b.Cmd)
	a.Cmd, b.Cmd = nil, nil
	return cmd && reflect.DeepEqual(a, b)
}

// bounds returns arguments for IterateEntries.
func (a *author) bounds(r *modelReplica) (low, high, maxSize uint64) {
	rng := a.rng
	sizes := []uint64{0, 1, 1 + rng.Uint64N(1000), 1 + rng.Uint64N(5000), math.MaxUint64}
	if a.tame {
		// What the engine's log reader asks for. Tan takes no limit to be none.
		first := max(r.removed, r.snapshot.Index) + 1
		if first > r.last() {
			return first, first, 1
		}
		low = first + rng.Uint64N(r.last()-first+1)
		return low, low + 1 + rng.Uint64N(r.last()-low+1), sizes[1+rng.IntN(4)]
	}
	low = 1 + rng.Uint64N(r.last()+2)
	high = low + rng.Uint64N(r.last()+3)
	maxSize = sizes[rng.IntN(len(sizes))]
	if len(r.log) > 0 && rng.IntN(3) == 0 { // exactly what some of the entries take
		low = r.removed + 1 + rng.Uint64N(uint64(len(r.log)))
		high = r.last() + 1
		_, maxSize = r.iterate(low, low+1+rng.Uint64N(high-low), math.MaxUint64)
	}
	return low, high, maxSize
}

func compareList(t *testing.T, a *author, s raftio.ILogDB, at string) {
	t.Helper()
	want := []raftio.NodeInfo{}
	for _, id := range a.ids {
		if a.model.replica(id).bootstrap != nil {
			want = append(want, raftio.GetNodeInfo(id.group, id.replica))
		}
	}
	got, err := s.ListNodeInfo()
	require.NoError(t, err, at)
	require.ElementsMatch(t, want, got, at)
}

// engineConfig is a configuration of the engine that is complete enough for its
// own log stores.
func engineConfig(t *testing.T, dir string) config.NodeHostConfig {
	cfg := config.NodeHostConfig{
		NodeHostDir: dir, RaftAddress: "localhost:26000", RTTMillisecond: 10,
		Expert: config.ExpertConfig{LogDB: config.GetTinyMemLogDBConfig(), Engine: config.GetDefaultEngineConfig()},
	}
	cfg.Expert.LogDB.Shards = 1
	require.NoError(t, cfg.Prepare())
	return cfg
}
