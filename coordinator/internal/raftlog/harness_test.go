package raftlog

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/lni/dragonboat/v4/raftio"
	"github.com/lni/dragonboat/v4/raftpb"
	"github.com/stretchr/testify/require"
)

var (
	seedFlag   = flag.Uint64("seed", 0, "seed of the random tests; 0 takes the time")
	stepsFlag  = flag.Int("steps", 1500, "steps of the random tests against the model")
	strideFlag = flag.Int("stride", 3, "of the file operations, one in so many is made to fail; 1 takes all")
)

// newRand returns a source whose seed is printed when the test fails.
func newRand(t *testing.T) *rand.Rand {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("replay with: go test ./coordinator/internal/raftlog -run '^%s$' -seed=%d", t.Name(), seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// testDir is the engine's directory, and testStoreDir that of the store in it.
const (
	testDir      = "/node"
	testStoreDir = testDir + "/" + DirName
)

// smallMemTable makes pebble rotate its memtables and logs often.
const smallMemTable = 64 << 10

func openAt(t testing.TB, fs vfs.FS) *Store {
	t.Helper()
	s, err := open(testDir, Options{FS: fs}, smallMemTable)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// update returns one of group 1, replica 1.
func update(state raftpb.State, entries ...raftpb.Entry) raftpb.Update {
	return raftpb.Update{ShardID: 1, ReplicaID: 1, State: state, EntriesToSave: entries}
}

// entries returns those from first to last, of one term.
func entries(term, first, last uint64) []raftpb.Entry {
	var list []raftpb.Entry
	for index := first; index <= last; index++ {
		list = append(list, raftpb.Entry{Term: term, Index: index, Cmd: []byte(fmt.Sprintf("command %d of term %d", index, term))})
	}
	return list
}

func snapshotAt(index, term uint64) raftpb.Snapshot {
	return raftpb.Snapshot{
		ShardID: 1, Index: index, Term: term, Type: raftpb.OnDiskStateMachine,
		Filepath: fmt.Sprintf("/snapshots/%d", index), FileSize: index,
		Membership: raftpb.Membership{ConfigChangeId: index, Addresses: map[uint64]string{1: "a"}},
	}
}

func save(t testing.TB, s raftio.ILogDB, updates ...raftpb.Update) {
	t.Helper()
	require.NoError(t, s.SaveRaftState(updates, 1))
}

func saveSnapshot(t testing.TB, s raftio.ILogDB, ss raftpb.Snapshot) {
	t.Helper()
	require.NoError(t, s.SaveSnapshots([]raftpb.Update{{ShardID: 1, ReplicaID: 1, Snapshot: ss}}))
}

// read returns the entries of group 1, replica 1.
func read(t testing.TB, s raftio.ILogDB, low, high uint64) []raftpb.Entry {
	t.Helper()
	list, _, err := s.IterateEntries(nil, 0, 1, 1, low, high, 1<<40)
	require.NoError(t, err)
	return list
}

func stateOf(t testing.TB, s raftio.ILogDB, snapshot uint64) raftio.RaftState {
	t.Helper()
	state, err := s.ReadRaftState(1, 1, snapshot)
	require.NoError(t, err)
	return state
}

// fill gives a replica entries of 1000 bytes, all of them in a snapshot. There must
// be hundreds of them.
func fill(t *testing.T, s *Store, group, first, last uint64) {
	t.Helper()
	for ; first <= last; first += 100 {
		list := entries(1, first, first+99)
		for i := range list {
			list[i].Cmd = bytes.Repeat([]byte{byte(i)}, 1000)
		}
		save(t, s, raftpb.Update{ShardID: group, ReplicaID: 1, State: raftpb.State{Term: 1, Commit: first + 99}, EntriesToSave: list})
	}
	require.NoError(t, s.SaveSnapshots([]raftpb.Update{{ShardID: group, ReplicaID: 1, Snapshot: snapshotAt(last, 1)}}))
}

func readOf(t *testing.T, s *Store, group, low, high uint64) []raftpb.Entry {
	t.Helper()
	list, _, err := s.IterateEntries(nil, 0, group, 1, low, high, math.MaxUint64)
	require.NoError(t, err)
	return list
}
