package raftnode

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"sync"
	"time"

	sm "github.com/lni/dragonboat/v4/statemachine"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/expiry"
	"github.com/palisade-go/palisade/coordinator/internal/pulse"
	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/statemachine/pebblestore"
)

// replica is one group on this node: the machine, its image in the store, and
// what the office needs. The engine drives it as its state machine on disk.
type replica struct {
	group statemachine.GroupID
	node  statemachine.NodeID
	// incarnation is that of this process.
	incarnation statemachine.Incarnation
	genesis     statemachine.Genesis
	clock       clock.Clock
	log         *slog.Logger
	store       *pebblestore.Store
	image       *pebblestore.Image
	voice       voice

	counters counters

	// applying is the pulse of the apply loop. Update and Sync share it: the
	// engine holds one lock over either.
	applying pulse.Pulse

	// cleared is closed when Open of the Node has found that the engine's log
	// and the image belong together. The engine must not go on before that:
	// it ends the process when they do not.
	cleared chan struct{}

	// news tells the office that something changed that it should look at.
	// It has room for one.
	news chan struct{}

	// mu guards the machine: Update and a snapshot install write, everybody
	// else reads. The proposer changes together with it, so that it never
	// knows a batch that the machine does not, or the other way round; its
	// own lock is for the office, which holds mu for reading only.
	mu         sync.RWMutex
	machine    *statemachine.Machine
	proposerMu sync.Mutex
	proposer   *expiry.Proposer

	leaderMu sync.Mutex
	leader   LeaderInfo
}

// openReplica loads the machine of a group from the store.
func openReplica(cfg Config, group statemachine.GroupID, retry time.Duration) (*replica, error) {
	image, err := cfg.Store.Image(uint64(group), uint64(cfg.Node))
	if err != nil {
		return nil, fmt.Errorf("raftnode: image of group %d: %w", group, err)
	}
	r := &replica{
		group:       group,
		node:        cfg.Node,
		incarnation: cfg.Incarnation,
		genesis:     cfg.Genesis(group),
		clock:       cfg.Clock,
		log:         cfg.Logger,
		store:       cfg.Store,
		image:       image,
		voice:       voice{sink: cfg.Sink(group)},
		cleared:     make(chan struct{}),
		news:        make(chan struct{}, 1),
		proposer:    expiry.New(retry),
	}
	machine, err := r.load()
	if err != nil {
		return nil, err
	}
	r.enthrone(machine)
	return r, nil
}

// load reads the machine from the image. An empty image is a group before its
// first entry.
func (r *replica) load() (*statemachine.Machine, error) {
	if r.image.Empty() {
		return statemachine.New(r.genesis), nil
	}
	var failed error
	machine, err := statemachine.Load(r.genesis, records(r.image, &failed))
	if err = errors.Join(failed, err); err != nil {
		return nil, fmt.Errorf("raftnode: load group %d: %w", r.group, err)
	}
	return machine, nil
}

// records iterates over an image. When reading fails it ends early and sets
// failed.
func records(image *pebblestore.Image, failed *error) iter.Seq2[[]byte, []byte] {
	enough := errors.New("enough")
	return func(yield func([]byte, []byte) bool) {
		err := image.Each(func(key, value []byte) error {
			if !yield(key, value) {
				return enough
			}
			return nil
		})
		if err != nil && !errors.Is(err, enough) {
			*failed = err
		}
	}
}

// enthrone makes a loaded machine the replica's, as of now.
func (r *replica) enthrone(machine *statemachine.Machine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.proposerMu.Lock()
	defer r.proposerMu.Unlock()
	r.machine = machine
	r.proposer.Reset(r.clock.Now(), machine)
	r.counters.applied.Store(uint64(machine.Meta().Applied))
}

// installed tells the Sink the state of this node.
func (r *replica) installed() {
	r.mu.RLock()
	presence, _ := r.machine.Presence(r.node)
	state := State{Index: r.machine.Meta().Applied, Presence: presence}
	if presence.Incarnation == r.incarnation {
		state.Leases, state.Waits = r.machine.Owned(r.node, r.incarnation)
	}
	r.mu.RUnlock()
	r.voice.say(func(s Sink) { s.Installed(state) })
}

// Open implements sm.IOnDiskStateMachine. The image was loaded before the
// engine started, so that a refusal is an error of Open of the Node and not
// the end of the process.
func (r *replica) Open(stop <-chan struct{}) (uint64, error) {
	select {
	case <-r.cleared:
	case <-stop:
		return 0, sm.ErrOpenStopped
	}
	r.installed()
	return r.counters.applied.Load(), nil
}

// entry is one log entry with its events.
type entry struct {
	index  statemachine.Index
	events []statemachine.Event
}

// Update implements sm.IOnDiskStateMachine: it applies entries to the machine
// and commits what changed as one batch, unsynced; the log is what survives a
// crash. The only error is that of the store, on which the engine ends the
// process.
func (r *replica) Update(entries []sm.Entry) ([]sm.Entry, error) {
	r.applying.Begin()
	defer r.applying.End()
	batches := make([]*statemachine.Batch, len(entries)) // nil: did not decode
	for i := range entries {
		entries[i].Result = sm.Result{Value: 1}
		batch, err := statemachine.DecodeBatch(entries[i].Cmd)
		if err != nil {
			r.counters.entriesSkipped.Add(1)
			r.log.Warn("skipped a log entry that does not decode",
				"group", r.group, "index", entries[i].Index, "cause", err)
			continue
		}
		batches[i] = &batch
	}
	applied, changes, sooner := r.apply(entries, batches)
	if err := r.image.Commit(changes); err != nil {
		return nil, fmt.Errorf("raftnode: commit group %d: %w", r.group, err)
	}
	r.counters.applied.Store(entries[len(entries)-1].Index)
	for _, e := range applied {
		r.voice.say(func(s Sink) { s.Applied(e.index, e.events) })
	}
	if sooner {
		r.wakeOffice()
	}
	return entries, nil
}

// apply applies decoded entries and returns those that had events, and all
// changes. One instant stands for all entries: it is later than their
// appending, which is what counting from it relies on.
func (r *replica) apply(entries []sm.Entry, batches []*statemachine.Batch) (applied []entry, changes []statemachine.Record, sooner bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.proposerMu.Lock()
	defer r.proposerMu.Unlock()
	now := r.clock.Now()
	for i, batch := range batches {
		index := statemachine.Index(entries[i].Index)
		if batch == nil {
			r.machine.Skip(index)
			continue
		}
		events := r.machine.Apply(index, *batch)
		sooner = r.proposer.Observe(now, r.machine, events) || sooner
		if len(events) > 0 {
			applied = append(applied, entry{index, events})
		}
	}
	return applied, r.machine.TakeChanges(), sooner
}

// Lookup implements sm.IOnDiskStateMachine and is never called: reads go
// through View.
func (r *replica) Lookup(any) (any, error) {
	return nil, errors.New("raftnode: read through View")
}

// Sync implements sm.IOnDiskStateMachine. Groups that sync at the same time
// share one flush.
func (r *replica) Sync() error {
	r.applying.Begin()
	defer r.applying.End()
	return r.store.Flush()
}

// PrepareSnapshot implements sm.IOnDiskStateMachine.
func (r *replica) PrepareSnapshot() (any, error) { return r.image.Prepare(), nil }

// SaveSnapshot implements sm.IOnDiskStateMachine. The engine calls it once
// after each PrepareSnapshot.
func (r *replica) SaveSnapshot(prepared any, w io.Writer, stop <-chan struct{}) error {
	snapshot := prepared.(*pebblestore.Snapshot)
	defer snapshot.Close()
	err := snapshot.WriteTo(w, stop)
	if errors.Is(err, pebblestore.ErrStopped) {
		return sm.ErrSnapshotStopped
	}
	return err
}

// RecoverFromSnapshot implements sm.IOnDiskStateMachine. The image is
// replaced as a whole, and survives a crash as a whole, before the machine is.
func (r *replica) RecoverFromSnapshot(from io.Reader, stop <-chan struct{}) error {
	err := r.image.Recover(from, stop)
	if errors.Is(err, pebblestore.ErrStopped) {
		return sm.ErrSnapshotStopped
	}
	if err != nil {
		return fmt.Errorf("raftnode: install a snapshot of group %d: %w", r.group, err)
	}
	machine, err := r.load()
	if err != nil {
		return err
	}
	r.enthrone(machine)
	r.counters.snapshotsInstalled.Add(1)
	r.installed()
	r.wakeOffice()
	return nil
}

// Close implements sm.IOnDiskStateMachine. The store stays open.
func (r *replica) Close() error { return nil }

// view calls fn with the machine under the read lock.
func (r *replica) view(fn func(*statemachine.Machine)) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	fn(r.machine)
}

// led notes who leads.
func (r *replica) led(leader LeaderInfo) {
	r.leaderMu.Lock()
	r.leader = leader
	r.leaderMu.Unlock()
	r.counters.leaderChanges.Add(1)
	r.wakeOffice()
}

// leads returns what is known of the leader, and whether it is this node.
func (r *replica) leads() (LeaderInfo, bool) {
	r.leaderMu.Lock()
	defer r.leaderMu.Unlock()
	return r.leader, r.leader.Leader == r.node
}

func (r *replica) wakeOffice() {
	select {
	case r.news <- struct{}{}:
	default:
	}
}
