package raftnode

import (
	"sync"

	"github.com/lni/dragonboat/v4/raftio"

	"github.com/palisade-go/palisade/statemachine"
)

// listener takes the engine's events. They come on one goroutine of the
// engine, and its workers wait, some with locks held, until an event is
// taken: so nothing here blocks or calls the engine.
type listener struct {
	systemEvents
	leaders  chan struct{} // has room for one; tells that pending is not empty
	replicas []*replica    // by group, from 1; set before the engine starts

	mu      sync.Mutex
	pending []raftio.LeaderInfo
}

func newListener(replicas []*replica) *listener {
	return &listener{leaders: make(chan struct{}, 1), replicas: replicas}
}

// LeaderUpdated implements raftio.IRaftEventListener. The queue has no bound:
// an entry takes 32 bytes and is made by an election.
func (l *listener) LeaderUpdated(info raftio.LeaderInfo) {
	r := l.replica(info.ShardID)
	if r == nil {
		return
	}
	r.led(LeaderInfo{Leader: statemachine.NodeID(info.LeaderID), Term: info.Term})
	l.mu.Lock()
	l.pending = append(l.pending, info)
	l.mu.Unlock()
	select {
	case l.leaders <- struct{}{}:
	default:
	}
}

// SnapshotCreated implements raftio.ISystemEventListener. The engine also
// reports a snapshot that it gave up, so the count is an upper bound.
func (l *listener) SnapshotCreated(info raftio.SnapshotInfo) {
	if r := l.replica(info.ShardID); r != nil {
		r.counters.snapshotsCreated.Add(1)
	}
}

func (l *listener) replica(group uint64) *replica {
	if group < 1 || group > uint64(len(l.replicas)) {
		return nil
	}
	return l.replicas[group-1]
}

// herald tells the Sinks who leads, in the order of the events, until stop is
// closed. It has a goroutine of its own so that a Sink can't hold up the
// engine.
func (l *listener) herald(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-l.leaders:
		}
		l.mu.Lock()
		pending := l.pending
		l.pending = nil
		l.mu.Unlock()
		for _, info := range pending {
			leader := LeaderInfo{Leader: statemachine.NodeID(info.LeaderID), Term: info.Term}
			l.replica(info.ShardID).voice.say(func(s Sink) { s.Leader(leader) })
		}
	}
}

// systemEvents takes the engine's events that nobody here needs.
type systemEvents struct{}

func (systemEvents) NodeHostShuttingDown()                       {}
func (systemEvents) NodeUnloaded(raftio.NodeInfo)                {}
func (systemEvents) NodeDeleted(raftio.NodeInfo)                 {}
func (systemEvents) NodeReady(raftio.NodeInfo)                   {}
func (systemEvents) MembershipChanged(raftio.NodeInfo)           {}
func (systemEvents) ConnectionEstablished(raftio.ConnectionInfo) {}
func (systemEvents) ConnectionFailed(raftio.ConnectionInfo)      {}
func (systemEvents) SendSnapshotStarted(raftio.SnapshotInfo)     {}
func (systemEvents) SendSnapshotCompleted(raftio.SnapshotInfo)   {}
func (systemEvents) SendSnapshotAborted(raftio.SnapshotInfo)     {}
func (systemEvents) SnapshotReceived(raftio.SnapshotInfo)        {}
func (systemEvents) SnapshotRecovered(raftio.SnapshotInfo)       {}
func (systemEvents) SnapshotCompacted(raftio.SnapshotInfo)       {}
func (systemEvents) LogCompacted(raftio.EntryInfo)               {}
func (systemEvents) LogDBCompacted(raftio.EntryInfo)             {}
