package raftlog

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"github.com/lni/dragonboat/v4/raftio"
	"github.com/lni/dragonboat/v4/raftpb"
)

// operation is one call of the engine, and what it does to the model.
type operation struct {
	name  string
	call  func(raftio.ILogDB) error
	apply func(model)
	// synced says that the call's effect is on disk when it has returned.
	synced bool
}

// author writes operations as the engine might call them, one after the other.
// Each is right after those before it.
type author struct {
	rng   *rand.Rand
	model model
	ids   []replicaID
	// largest is the size of the largest command.
	largest int
	// tame leaves out what the engine's own stores do differently.
	tame bool
	// noState leaves out ReadRaftState after a snapshot.
	noState bool
	gone    map[replicaID]bool // with tame: removed, and not to be used again
}

func newAuthor(rng *rand.Rand) *author {
	return &author{
		rng: rng, model: model{}, largest: 200, gone: map[replicaID]bool{},
		// The last byte of an id is the one that a wrong bound would confuse.
		ids: []replicaID{{1, 1}, {1, 2}, {2, 1}, {255, 255}, {256, 1}, {1<<64 - 1, 1<<64 - 1}},
	}
}

// next returns an operation, which was applied to the model.
func (a *author) next() operation {
	op := a.draft()
	op.apply(a.model)
	return op
}

func (a *author) draft() operation {
	id := a.ids[a.rng.IntN(len(a.ids))]
	if a.gone[id] {
		return a.step()
	}
	r := a.model.replica(id)
	switch n := a.rng.IntN(100); {
	case n < 60:
		return a.step()
	case n < 75 && r.state.Commit > 0:
		// The engine may have applied more than it has said is committed, and
		// everything that is here.
		upTo := r.last()
		if a.tame {
			upTo = r.state.Commit
		}
		return a.snapshot(id, 1+a.rng.Uint64N(upTo))
	case n < 88 && r.snapshot.Index > 0:
		return a.removeEntries(id, a.rng.Uint64N(r.snapshot.Index+1))
	case n < 92:
		return a.bootstrap(id)
	case n < 95:
		return a.importSnapshot(id)
	case n < 97:
		return a.removeReplica(id)
	default:
		return a.compact(id)
	}
}

// step writes what some replicas have to save after one step.
func (a *author) step() operation {
	op := operation{name: "step"}
	var updates []raftpb.Update
	for _, at := range a.rng.Perm(len(a.ids))[:1+a.rng.IntN(min(3, len(a.ids)))] {
		if id := a.ids[at]; !a.gone[id] {
			u, synced := a.update(id)
			updates = append(updates, u)
			op.synced = op.synced || synced
			op.name += fmt.Sprintf(" [%s: %+v, snapshot %d, %d entries]", id, u.State, u.Snapshot.Index, len(u.EntriesToSave))
		}
	}
	op.call = func(s raftio.ILogDB) error { return s.SaveRaftState(updates, 1) }
	op.apply = func(m model) {
		for _, u := range updates {
			m.save(u)
		}
	}
	return op
}

func (a *author) update(id replicaID) (u raftpb.Update, synced bool) {
	r := a.model.replica(id)
	u = raftpb.Update{ShardID: id.group, ReplicaID: id.replica}
	state, last := r.state, r.last()
	if state.Term == 0 {
		state.Term = 1
	}
	if a.rng.IntN(6) == 0 {
		state.Term += 1 + a.rng.Uint64N(3)
		state.Vote = a.rng.Uint64N(3)
	} else if state.Vote == 0 && a.rng.IntN(3) == 0 {
		state.Vote = 1 + a.rng.Uint64N(3) // in the same term
	}
	if a.rng.IntN(25) == 0 {
		after := state.Commit
		if a.tame {
			after = last // Tan keeps the entries of the old log that are beyond it
		}
		u.Snapshot = a.metadata(id, after+1+a.rng.Uint64N(20), state.Term)
		last, state.Commit = u.Snapshot.Index, u.Snapshot.Index
	}
	if a.rng.IntN(3) > 0 {
		first := last + 1
		if a.rng.IntN(4) == 0 { // another leader has other entries
			first -= a.rng.Uint64N(last - state.Commit + 1)
		}
		for index := first; index < first+1+a.rng.Uint64N(6); index++ {
			u.EntriesToSave = append(u.EntriesToSave, a.entry(index, state.Term))
		}
		last = u.EntriesToSave[len(u.EntriesToSave)-1].Index
	}
	if a.rng.IntN(2) == 0 {
		state.Commit += a.rng.Uint64N(last - state.Commit + 1)
	}
	if state != r.state {
		u.State = state
	}
	moved := u.State != (raftpb.State{}) && (state.Term != r.state.Term || state.Vote != r.state.Vote)
	return u, moved || len(u.EntriesToSave) > 0 || u.Snapshot.Index > 0
}

func (a *author) entry(index, term uint64) raftpb.Entry {
	e := raftpb.Entry{Index: index, Term: term, Type: raftpb.EntryType(a.rng.IntN(4)), Key: a.rng.Uint64() >> a.rng.IntN(64)}
	if size := a.rng.IntN(a.largest + 1); size > 0 {
		e.Cmd = bytes.Repeat([]byte{byte(a.rng.Uint32())}, size)
	}
	return e
}

func (a *author) metadata(id replicaID, index, term uint64) raftpb.Snapshot {
	return raftpb.Snapshot{
		ShardID: id.group, Index: index, Term: term, Type: raftpb.OnDiskStateMachine,
		Filepath: fmt.Sprintf("/snapshots/%d/%d", index, a.rng.Uint32()), Checksum: []byte{1, 2},
		Membership: raftpb.Membership{
			ConfigChangeId: index, Addresses: map[uint64]string{1: "a", 2: "b"}, Removed: map[uint64]bool{3: true},
			NonVotings: map[uint64]string{}, Witnesses: map[uint64]string{},
		},
	}
}

func (a *author) snapshot(id replicaID, index uint64) operation {
	ss := a.metadata(id, index, max(a.model.replica(id).state.Term, 1))
	newer := index > a.model.replica(id).snapshot.Index
	if a.tame && !newer {
		return a.step() // the sharded pebble saves it after it was opened anew
	}
	return operation{
		name: fmt.Sprintf("snapshot %s %d", id, index), synced: newer,
		call: func(s raftio.ILogDB) error {
			return s.SaveSnapshots([]raftpb.Update{{ShardID: id.group, ReplicaID: id.replica, Snapshot: ss}})
		},
		apply: func(m model) { m.saveSnapshot(id, ss) },
	}
}

func (a *author) removeEntries(id replicaID, index uint64) operation {
	return operation{
		name:  fmt.Sprintf("remove entries of %s to %d", id, index),
		call:  func(s raftio.ILogDB) error { return s.RemoveEntriesTo(id.group, id.replica, index) },
		apply: func(m model) { m.removeEntries(id, index) },
	}
}

func (a *author) bootstrap(id replicaID) operation {
	b := raftpb.Bootstrap{Addresses: map[uint64]string{1: "a", a.rng.Uint64N(9): "b"}, Type: raftpb.OnDiskStateMachine}
	return operation{
		name: fmt.Sprintf("bootstrap %s", id), synced: true,
		call:  func(s raftio.ILogDB) error { return s.SaveBootstrapInfo(id.group, id.replica, b) },
		apply: func(m model) { m.replica(id).bootstrap = &b },
	}
}

func (a *author) importSnapshot(id replicaID) operation {
	ss := a.metadata(id, 1+a.rng.Uint64N(40), 1+a.rng.Uint64N(5))
	if a.tame {
		// The engine's stores keep in memory what they had of the replica, so
		// they have to be opened anew, which tests do at another time.
		return a.step()
	}
	return operation{
		name: fmt.Sprintf("import %s %d", id, ss.Index), synced: true,
		call:  func(s raftio.ILogDB) error { return s.ImportSnapshot(ss, id.replica) },
		apply: func(m model) { m.importSnapshot(id, ss) },
	}
}

func (a *author) removeReplica(id replicaID) operation {
	if a.tame {
		if len(a.gone) == len(a.ids)-3 {
			return a.step()
		}
		a.gone[id] = true
	}
	return operation{
		name: fmt.Sprintf("remove %s", id), synced: true,
		call:  func(s raftio.ILogDB) error { return s.RemoveNodeData(id.group, id.replica) },
		apply: func(m model) { delete(m, id) },
	}
}

func (a *author) compact(id replicaID) operation {
	index := a.model.replica(id).removed
	if a.tame && index == 0 {
		return a.step() // the sharded pebble would end the process
	}
	return operation{
		name: fmt.Sprintf("compact %s to %d", id, index),
		call: func(s raftio.ILogDB) error {
			done, err := s.CompactEntriesTo(id.group, id.replica, index)
			if err == nil {
				<-done
			}
			return err
		},
		apply: func(model) {},
	}
}
