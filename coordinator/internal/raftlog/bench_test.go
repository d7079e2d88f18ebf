package raftlog

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/lni/dragonboat/v4/config"
	"github.com/lni/dragonboat/v4/plugin/tan"
	"github.com/lni/dragonboat/v4/raftio"
	"github.com/lni/dragonboat/v4/raftpb"
)

// commandBytes is the size of a command in the benchmarks.
const commandBytes = 100

func benchEntries(first uint64, n int) []raftpb.Entry {
	list := make([]raftpb.Entry, n)
	for i := range list {
		list[i] = raftpb.Entry{Term: 1, Index: first + uint64(i), Cmd: bytes.Repeat([]byte{7}, commandBytes)}
	}
	return list
}

// BenchmarkSaveRaftState saves steps of one worker: entries, and a commit index
// alone. Tan is the one of the engine's own stores that can be had by itself.
func BenchmarkSaveRaftState(b *testing.B) {
	for _, store := range []struct {
		name    string
		factory config.LogDBFactory
	}{
		{"Raftlog", ours()},
		{"RaftlogUnsynced", NewFactory(Options{FS: newUnsynced()})},
		{"Tan", tan.Factory},
	} {
		for _, n := range []int{0, 1, 16, 256} {
			b.Run(fmt.Sprintf("%s/%dEntries", store.name, n), func(b *testing.B) {
				dir := b.TempDir()
				cfg := config.NodeHostConfig{
					NodeHostDir: dir, RaftAddress: "localhost:26000", RTTMillisecond: 10,
					Expert: config.ExpertConfig{LogDB: config.GetTinyMemLogDBConfig(), Engine: config.GetDefaultEngineConfig()},
				}
				if err := cfg.Prepare(); err != nil {
					b.Fatal(err)
				}
				s, err := store.factory.Create(cfg, func(config.LogDBInfo) {}, []string{dir}, []string{dir})
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				benchmarkSave(b, s, n)
			})
		}
	}
}

func benchmarkSave(b *testing.B, s raftio.ILogDB, n int) {
	list := benchEntries(1, max(n, 1))
	updates := []raftpb.Update{{ShardID: 1, ReplicaID: 1, State: raftpb.State{Term: 1}, EntriesToSave: benchEntries(1, 1)}}
	last := uint64(1)
	if n == 0 { // as many entries as there will be commit indexes
		updates[0].EntriesToSave = benchEntries(1, b.N+1)
	}
	if err := s.SaveRaftState(updates, 1); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		u := &updates[0]
		u.EntriesToSave = nil
		u.State.Commit = uint64(i + 1)
		if n > 0 {
			for j := range list {
				last++
				list[j].Index = last
			}
			u.EntriesToSave = list
			u.State.Commit = last - 1
		}
		if err := s.SaveRaftState(updates, 1); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEntryRecords is why an entry is a record of its own: what it costs
// against all entries of a step in one record, which an overwrite and a removal
// would have to cut.
func BenchmarkEntryRecords(b *testing.B) {
	for _, n := range []int{1, 16, 256} {
		for _, form := range []string{"OneEach", "OneForAll"} {
			for _, fs := range []string{"Disk", "Unsynced"} {
				b.Run(fmt.Sprintf("%dEntries/%s/%s", n, form, fs), func(b *testing.B) {
					var opts Options
					if fs == "Unsynced" {
						opts.FS = newUnsynced()
					}
					s, err := open(b.TempDir(), opts, memTableBytes)
					if err != nil {
						b.Fatal(err)
					}
					defer s.Close()
					benchmarkRecords(b, s, n, form == "OneEach")
				})
			}
		}
	}
}

func benchmarkRecords(b *testing.B, s *Store, n int, oneEach bool) {
	id := replicaID{1, 1}
	list := benchEntries(1, n)
	b.ReportAllocs()
	for i := range b.N {
		c := s.begin()
		if oneEach {
			for j := range list {
				list[j].Index = uint64(i*n + j + 1)
				if err := c.putEntry(id, &list[j]); err != nil {
					b.Fatal(err)
				}
			}
		} else {
			all := raftpb.EntryBatch{Entries: list}
			op := c.batch.SetDeferred(entryKeyBytes, all.SizeUpperLimit())
			putEntryKey(op.Key, id, uint64(i))
			if _, err := all.MarshalTo(op.Value); err != nil {
				b.Fatal(err)
			}
			if err := op.Finish(); err != nil {
				b.Fatal(err)
			}
		}
		if err := c.batch.Commit(pebble.Sync); err != nil {
			b.Fatal(err)
		}
		c.close()
	}
}

// BenchmarkPropose proposes through the engine, on this store and on the one that
// is the engine's default.
func BenchmarkPropose(b *testing.B) {
	for _, store := range []struct {
		name    string
		factory func() config.LogDBFactory
	}{
		{"Raftlog", ours},
		{"Default", func() config.LogDBFactory { return nil }},
	} {
		for _, nodes := range []int{1, 3} {
			for _, callers := range []int{1, 64} {
				b.Run(fmt.Sprintf("%s/%dNodes%dCallers", store.name, nodes, callers), func(b *testing.B) {
					hosts := newHosts(b, nodes, 1, store.factory)
					for _, h := range hosts {
						h.start()
					}
					hosts[0].propose(1, 1)
					leader, _, _, err := hosts[0].nh.GetLeaderID(1)
					if err != nil {
						b.Fatal(err)
					}
					benchmarkPropose(b, hosts[leader-1], callers)
				})
			}
		}
	}
}

func benchmarkPropose(b *testing.B, h *host, callers int) {
	var left atomic.Int64
	left.Store(int64(b.N))
	var group sync.WaitGroup
	b.ResetTimer()
	for range callers {
		group.Add(1)
		go func() {
			defer group.Done()
			for left.Add(-1) >= 0 {
				h.propose(1, 2)
			}
		}()
	}
	group.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "proposals/s")
}
