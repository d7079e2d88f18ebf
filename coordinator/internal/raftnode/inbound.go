package raftnode

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lni/dragonboat/v4/raftio"
	"github.com/lni/dragonboat/v4/raftpb"

	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/transport"
)

// inbound checks what peers sent before the engine sees it. The engine ends
// the process over a message that no honest engine sends; here such a message
// breaks the link instead.
type inbound struct {
	node     statemachine.NodeID
	members  []statemachine.NodeID
	groups   int
	messages raftio.MessageHandler
	chunks   raftio.ChunkHandler
}

var _ transport.Handler = (*inbound)(nil)

// errUnwanted says that a peer sent what it must not send.
var errUnwanted = errors.New("raftnode: unwanted message")

// sendable are the kinds of messages that one engine sends to another. The
// others are what an engine tells itself; one of them, a snapshot that was
// received, names a file.
var sendable = map[raftpb.MessageType]bool{
	raftpb.NoOP:               true,
	raftpb.Ping:               true,
	raftpb.Pong:               true,
	raftpb.Propose:            true,
	raftpb.Replicate:          true,
	raftpb.ReplicateResp:      true,
	raftpb.RequestVote:        true,
	raftpb.RequestVoteResp:    true,
	raftpb.RequestPreVote:     true,
	raftpb.RequestPreVoteResp: true,
	raftpb.Heartbeat:          true,
	raftpb.HeartbeatResp:      true,
	raftpb.ReadIndex:          true,
	raftpb.ReadIndexResp:      true,
	raftpb.SnapshotReceived:   true,
	raftpb.LeaderTransfer:     true,
	raftpb.TimeoutNow:         true,
	raftpb.RateLimit:          true,
}

// Receive implements transport.Handler.
func (i *inbound) Receive(from transport.Peer, kind transport.Kind, frame []byte) error {
	switch kind {
	case transport.Messages:
		return i.receiveMessages(from, frame)
	case transport.Chunks:
		return i.receiveChunk(from, frame)
	}
	return fmt.Errorf("%w: from %s: a frame of kind %d", errUnwanted, from, kind)
}

func (i *inbound) receiveMessages(from transport.Peer, frame []byte) error {
	var batch raftpb.MessageBatch
	if err := guard(func() error { return batch.Unmarshal(frame) }); err != nil {
		return fmt.Errorf("%w: from %s: %w", errUnwanted, from, err)
	}
	for _, m := range batch.Requests {
		if !sendable[m.Type] {
			return fmt.Errorf("%w: from %s: a message of type %v", errUnwanted, from, m.Type)
		}
		if err := i.check(from, m.ShardID, m.From, m.To); err != nil {
			return fmt.Errorf("%w: from %s: %w", errUnwanted, from, err)
		}
	}
	i.messages(batch)
	return nil
}

func (i *inbound) receiveChunk(from transport.Peer, frame []byte) error {
	var chunk raftpb.Chunk
	if err := guard(func() error { return chunk.Unmarshal(frame) }); err != nil {
		return fmt.Errorf("%w: from %s: %w", errUnwanted, from, err)
	}
	if err := i.check(from, chunk.ShardID, chunk.From, chunk.ReplicaID); err != nil {
		return fmt.Errorf("%w: from %s: %w", errUnwanted, from, err)
	}
	if !i.chunks(chunk) {
		return fmt.Errorf("raftnode: from %s: the engine does not want this snapshot", from)
	}
	return nil
}

// check refuses messages of groups and nodes that there are not, those in the
// name of another node than the link's, and those for another node.
func (i *inbound) check(peer transport.Peer, group, from, to uint64) error {
	switch {
	case from != peer.Node:
		return fmt.Errorf("in the name of node %d", from)
	case group < 1 || group > uint64(i.groups):
		return fmt.Errorf("group %d of %d", group, i.groups)
	case statemachine.NodeID(to) != i.node:
		return fmt.Errorf("for node %d, this is %d", to, i.node)
	case !slices.Contains(i.members, statemachine.NodeID(from)):
		return fmt.Errorf("of node %d, which is not a member", from)
	}
	return nil
}
