package raftnode

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lni/dragonboat/v4/raftpb"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/raftnode/disktest/kerneltest"
	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/transport"
)

// promise is what a node has told another one, and must not go back on: that it
// is in a term, whom it voted for in it, or what it has of the log.
type promise struct {
	From, Group, Term uint64
	Vote              uint64 // for whom; 0: it is no vote
	Index             uint64 // up to where the log is; 0: it says nothing of that
}

const promiseNote = "promise "

// overheard is a network that notes the promises that go over it, before they do.
type overheard struct {
	transport.Network
	watch *kerneltest.Watch
	known *promised
}

// promised is what was promised already, so that each is noted once.
type promised struct {
	mu   sync.Mutex
	made map[promise]bool
}

// Dial implements transport.Network.
func (o overheard) Dial(ctx context.Context, from, to string, kind transport.Kind) (transport.Link, error) {
	link, err := o.Network.Dial(ctx, from, to, kind)
	if err != nil || kind != transport.Messages {
		return link, err
	}
	return overheardLink{link, o}, nil
}

type overheardLink struct {
	transport.Link
	network overheard
}

// Send implements transport.Link.
func (l overheardLink) Send(frame []byte) error {
	var batch raftpb.MessageBatch
	if err := batch.Unmarshal(frame); err != nil {
		return err
	}
	for _, m := range batch.Requests {
		if p, ok := promiseIn(m); ok && l.network.known.first(p) {
			text, err := json.Marshal(p)
			if err != nil {
				return err
			}
			l.network.watch.Note("%s%s", promiseNote, text)
		}
	}
	return l.Link.Send(frame)
}

// first reports whether nobody has promised that before.
func (k *promised) first(p promise) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.made[p]
	k.made[p] = true
	return !known
}

// promiseIn returns what a message promises. Those of a pre-vote name a term that
// nobody is in yet.
func promiseIn(m raftpb.Message) (promise, bool) {
	p := promise{From: m.From, Group: m.ShardID, Term: m.Term}
	switch m.Type {
	case raftpb.RequestPreVote, raftpb.RequestPreVoteResp:
		return p, false
	case raftpb.RequestVote:
		p.Vote = m.From // a candidate votes for itself
	case raftpb.RequestVoteResp:
		if !m.Reject {
			p.Vote = m.To
		}
	case raftpb.ReplicateResp:
		if !m.Reject {
			p.Index = m.LogIndex
		}
	}
	return p, p.Term > 0
}

// kept checks a promise against what a node found in its log when it started.
func (p promise) kept(state raftpb.State, last uint64) error {
	switch {
	case state.Term < p.Term:
		return fmt.Errorf("the term went back to %d", state.Term)
	case p.Vote != 0 && state.Term == p.Term && state.Vote != p.Vote:
		return fmt.Errorf("the vote is for %d", state.Vote)
	case p.Index != 0 && state.Term == p.Term && last < p.Index:
		return fmt.Errorf("the log ends at %d", last)
	}
	return nil
}

// promises returns those of a node that were made before this moment.
func (r *recording) promises(node statemachine.NodeID) (made []promise) {
	r.t.Helper()
	for _, note := range r.notes {
		text, ok := strings.CutPrefix(note, promiseNote)
		if !ok {
			continue
		}
		var p promise
		require.NoError(r.t, json.Unmarshal([]byte(text), &p))
		if p.From == uint64(node) {
			made = append(made, p)
		}
	}
	return made
}

// keeps starts one node alone on what was left, and checks that it knows of all
// its promises. It returns how many they were, and how many of them were votes.
func (r *recording) keeps(dir string, node statemachine.NodeID, at string) (all, votes int) {
	r.t.Helper()
	c := powerCluster(r.t, threeNodes)
	c.dir = dir
	p := c.peers[node]
	require.NoError(r.t, p.start(), "%s: node %d", at, node)
	for _, promised := range r.promises(node) {
		reader, err := p.node.host.GetLogReader(promised.Group)
		require.NoError(r.t, err)
		state, _ := reader.NodeState()
		_, last := reader.GetRange()
		require.NoError(r.t, promised.kept(state, last), "%s: %+v", at, promised)
		all++
		if promised.Vote != 0 {
			votes++
		}
	}
	p.stop()
	require.NoError(r.t, c.network.Close())
	return all, votes
}

const threeNodes = 3

// recordThree is what the children of the tests below do: three nodes work, and
// leadership goes from one to another.
func recordThree(t *testing.T, root string, watch *kerneltest.Watch) {
	c := powerCluster(t, threeNodes)
	c.dir = root
	powerConfig := c.change
	known := &promised{made: make(map[promise]bool)}
	c.change = func(cfg *Config) {
		powerConfig(cfg)
		cfg.Network = overheard{cfg.Network, watch, known}
	}
	for _, p := range c.peers {
		require.NoError(t, os.Mkdir(p.dir(), 0o700))
	}
	require.NoError(t, syncDir(root))
	for _, p := range c.peers {
		require.NoError(t, p.start())
	}
	e := errand{c, watch}
	for round := range 4 {
		p := c.peers[statemachine.NodeID(1+round%threeNodes)]
		e.run(p, 2)
		for group := statemachine.GroupID(1); group <= powerGroups; group++ {
			e.lead(p.id, group)
		}
	}
	endRecording(t)
}

// lead makes a node the leader of a group.
func (e *errand) lead(node statemachine.NodeID, group statemachine.GroupID) {
	e.t.Helper()
	for deadline := time.Now().Add(patience); e.leader(group).id != node; e.anyone().pause(group) {
		require.Less(e.t, time.Now(), deadline, "node %d does not lead", node)
		require.NoError(e.t, e.leader(group).node.Transfer(group, node))
	}
}

// One of three nodes loses power while the others go on. When it is back it knows
// of everything that it told them: its term and its vote have not gone back, and
// it has of the log what it said. Checked for each node at many moments, with
// nothing left that was not synced.
func TestPowerLossOfOneNodeBreaksNoPromise(t *testing.T) {
	if root, watch := recorded(t); watch != nil {
		recordThree(t, root, watch)
		return
	}
	t.Parallel()
	r := record(t)
	all, votes := 0, 0
	seen := r.moments(36, func() {
		node := statemachine.NodeID(1 + r.random.IntN(threeNodes))
		if len(r.promises(node)) == 0 {
			return
		}
		a, v := r.keeps(r.leave(kerneltest.Synced), node, fmt.Sprintf("after %d notes", len(r.notes)))
		all, votes = all+a, votes+v
	})
	t.Logf("%d promises, %d of them votes, were kept over %d losses of power", all, votes, seen)
	require.Greater(t, seen, 12)
	require.Greater(t, all, 100)
	require.Positive(t, votes)
}

// All three nodes lose power at once, or one does while the processes of the
// others end: what was acknowledged is there on all of them.
func TestPowerLossOfAllNodes(t *testing.T) {
	if root, watch := recorded(t); watch != nil {
		recordThree(t, root, watch)
		return
	}
	t.Parallel()
	r := record(t)
	seen := r.moments(6, func() {
		left := kerneltest.Left(r.random.IntN(int(kerneltest.All)))
		r.restarted(r.leave(left), threeNodes, fmt.Sprintf("after %d notes, %v", len(r.notes), left))
	})
	require.Greater(t, seen, 3)
	t.Logf("power was lost at %d moments", seen)
}
