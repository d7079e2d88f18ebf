package raftlog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lni/dragonboat/v4/raftio"
	"github.com/lni/dragonboat/v4/raftpb"
)

// model is what a log store is to the engine, in the simplest form.
type model map[replicaID]*modelReplica

type modelReplica struct {
	bootstrap *raftpb.Bootstrap
	known     bool // a status was written
	state     raftpb.State
	snapshot  raftpb.Snapshot
	removed   uint64
	log       []raftpb.Entry // from removed+1 on
}

func (m model) replica(id replicaID) *modelReplica {
	if m[id] == nil {
		m[id] = &modelReplica{}
	}
	return m[id]
}

func (r *modelReplica) last() uint64 { return r.removed + uint64(len(r.log)) }

func (m model) save(u raftpb.Update) {
	r := m.replica(replicaID{u.ShardID, u.ReplicaID})
	if !raftpb.IsEmptyState(u.State) {
		r.known, r.state = true, u.State
	}
	if u.Snapshot.Index > r.snapshot.Index {
		r.known = true
		r.snapshot, r.removed, r.log = u.Snapshot, u.Snapshot.Index, nil
	}
	for _, e := range u.EntriesToSave {
		r.known = true
		r.log = append(slices.Clone(r.log[:e.Index-r.removed-1]), e)
	}
	r.raise()
}

func (m model) saveSnapshot(id replicaID, ss raftpb.Snapshot) {
	if r := m.replica(id); ss.Index > r.snapshot.Index {
		r.snapshot = ss
		r.raise()
	}
}

// raise raises the commit index to the snapshot.
func (r *modelReplica) raise() { r.state.Commit = max(r.state.Commit, r.snapshot.Index) }

func (m model) removeEntries(id replicaID, index uint64) {
	r := m.replica(id)
	if index = min(index, r.last()); index > r.removed {
		r.removed, r.log = index, slices.Clone(r.log[index-r.removed:])
	}
}

func (m model) importSnapshot(id replicaID, ss raftpb.Snapshot) {
	m[id] = &modelReplica{
		bootstrap: &raftpb.Bootstrap{Join: true, Type: ss.Type}, known: true,
		state: raftpb.State{Term: ss.Term, Commit: ss.Index}, snapshot: ss, removed: ss.Index,
	}
}

// iterate is IterateEntries of the model.
func (r *modelReplica) iterate(low, high, maxSize uint64) (list []raftpb.Entry, size uint64) {
	if low <= r.removed {
		return nil, 0
	}
	for index := low; index < high && index <= r.last(); index++ {
		e := r.log[index-r.removed-1]
		list = append(list, e)
		if size += uint64(e.SizeUpperLimit()); size > maxSize {
			break
		}
	}
	return list, size
}

// dump returns all of the model as text.
func (m model) dump() string {
	var out strings.Builder
	ids := slices.SortedFunc(maps.Keys(m), func(a, b replicaID) int {
		return strings.Compare(a.String(), b.String())
	})
	for _, id := range ids {
		if r := m[id]; r.known || r.bootstrap != nil {
			dumpReplica(&out, id, *r)
		}
	}
	return out.String()
}

func dumpReplica(out *strings.Builder, id replicaID, r modelReplica) {
	fmt.Fprintf(out, "%s: %+v, state %t %+v, removed %d\n  snapshot %d %d %s\n", id, r.bootstrap, r.known, r.state, r.removed,
		r.snapshot.Index, r.snapshot.Term, r.snapshot.Filepath)
	for _, e := range r.log {
		fmt.Fprintf(out, "  %d term %d %.20q %d\n", e.Index, e.Term, e.Cmd, len(e.Cmd))
	}
}

// dump returns all of the store as text, in the form of the model's. It fails
// when the records of a replica don't fit together.
func dump(s *Store, ids []replicaID) (string, error) {
	var out strings.Builder
	ids = slices.SortedFunc(slices.Values(ids), func(a, b replicaID) int {
		return strings.Compare(a.String(), b.String())
	})
	for _, id := range ids {
		var r modelReplica
		b, err := s.GetBootstrapInfo(id.group, id.replica)
		if err == nil {
			r.bootstrap = &b
		} else if err != raftio.ErrNoBootstrapInfo {
			return "", err
		}
		if r.snapshot, err = s.GetSnapshot(id.group, id.replica); err != nil {
			return "", err
		}
		f, known, err := s.load(id)
		if err != nil {
			return "", err
		}
		r.known, r.state, r.removed = known, f.State, f.removed
		if r.log, _, err = s.IterateEntries(nil, 0, id.group, id.replica, f.removed+1, f.last+2, 1<<40); err != nil {
			return "", err
		}
		if r.last() != f.last {
			return "", fmt.Errorf("%s has entries to %d, its status says %d", id, r.last(), f.last)
		}
		if f.removed > 0 {
			// Nothing is there that was removed. The single read does not look at
			// its neighbours.
			for _, index := range []uint64{1, f.removed} {
				if list, _, err := s.IterateEntries(nil, 0, id.group, id.replica, index, index+1, 1<<40); err != nil || len(list) > 0 {
					return "", fmt.Errorf("%s still has entry %d: %w", id, index, err)
				}
			}
		}
		if r.known || r.bootstrap != nil {
			dumpReplica(&out, id, r)
		}
	}
	return out.String(), nil
}
