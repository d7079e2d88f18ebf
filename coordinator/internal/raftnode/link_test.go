package raftnode

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lni/dragonboat/v4/config"
	"github.com/lni/dragonboat/v4/raftio"
	"github.com/lni/dragonboat/v4/raftpb"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/transport"
)

func TestLinks(t *testing.T) {
	network := transport.NewMemory(1)
	defer func() { require.NoError(t, network.Close()) }()
	join := func(node statemachine.NodeID) transport.Network {
		joined, err := network.Join(transport.Member{Self: hello(node, 1)})
		require.NoError(t, err)
		return joined
	}
	received := make(chan raftpb.MessageBatch, 1)
	chunks := make(chan raftpb.Chunk, 1)
	create := func(node statemachine.NodeID, listen, address string) raftio.ITransport {
		factory := &linkFactory{
			network: join(node), listen: listen, address: address, node: node,
			members: []statemachine.NodeID{1, 2, 3}, groups: 2, election: election,
		}
		return factory.Create(config.NodeHostConfig{RaftAddress: address},
			func(b raftpb.MessageBatch) { received <- b },
			func(c raftpb.Chunk) bool {
				select {
				case chunks <- c:
				default: // nobody asks for it
				}
				return true
			})
	}
	l, two := create(1, "a:1", "a:1"), create(2, "b:1", "b:1")
	require.NotEmpty(t, l.Name())
	require.NoError(t, l.Close(), "Close before Start is what the engine does when Start failed")
	require.NoError(t, l.Start())

	t.Run("CarryMessagesAndChunks", func(t *testing.T) {
		connection, err := two.GetConnection(context.Background(), "a:1")
		require.NoError(t, err)
		defer connection.Close()
		require.NoError(t, connection.SendMessageBatch(raftpb.MessageBatch{Requests: []raftpb.Message{beat()}}))
		require.Equal(t, []raftpb.Message{beat()}, (<-received).Requests)
		snapshot, err := two.GetSnapshotConnection(context.Background(), "a:1")
		require.NoError(t, err)
		defer snapshot.Close()
		require.NoError(t, snapshot.SendChunk(raftpb.Chunk{ShardID: 1, ReplicaID: 1, From: 2}))
		require.EqualValues(t, 1, (<-chunks).ShardID)
	})

	t.Run("TellTheEngineWhomTheyCouldNotReach", func(t *testing.T) {
		network.Cut("a:1", "c:1")
		connection, err := l.GetConnection(context.Background(), "c:1")
		require.NoError(t, err, "the engine would not look again for longer than an election")
		defer connection.Close()
		require.NoError(t, connection.SendMessageBatch(raftpb.MessageBatch{Requests: []raftpb.Message{
			{Type: raftpb.Heartbeat, ShardID: 2, From: 1, To: 3}, {Type: raftpb.Heartbeat, ShardID: 2, From: 1, To: 3},
		}}))
		require.Equal(t, []raftpb.Message{{Type: raftpb.Unreachable, ShardID: 2, From: 3, To: 1}}, (<-received).Requests)
		_, err = l.GetSnapshotConnection(context.Background(), "c:1")
		require.ErrorIs(t, err, transport.ErrUnreachable)
		require.ErrorContains(t, err, "c:1")
	})

	t.Run("GiveUpWithTheContext", func(t *testing.T) {
		network.BlackHole("a:1", "d:1")
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := l.GetSnapshotConnection(ctx, "d:1")
		require.ErrorIs(t, err, context.Canceled)
	})

	t.Run("GiveUpWhatTheySendWithTheContext", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		snapshot, err := two.GetSnapshotConnection(ctx, "a:1")
		require.NoError(t, err)
		defer snapshot.Close()
		cancel()
		for end := time.Now().Add(patience); err == nil; { // the link ends a moment later
			require.Less(t, time.Now(), end)
			err = snapshot.SendChunk(raftpb.Chunk{ShardID: 1, ReplicaID: 1, From: 2})
		}
		require.ErrorIs(t, err, transport.ErrClosed)
	})

	t.Run("SayWhereTheyCouldNotListen", func(t *testing.T) {
		err := create(1, "a:1", "a:1").Start()
		require.ErrorIs(t, err, transport.ErrAddressInUse)
		require.ErrorContains(t, err, "a:1")
	})

	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
}

func TestRegistry(t *testing.T) {
	gone := errors.New("gone")
	r := &registry{members: []statemachine.NodeID{1, 2}, resolve: func(id statemachine.NodeID) (string, error) {
		if id == 2 {
			return "", gone
		}
		return "a:1", nil
	}}
	same, err := r.Create("", 0, nil)
	require.NoError(t, err)
	require.Equal(t, r, same)
	address, key, err := r.Resolve(5, 1)
	require.NoError(t, err)
	require.Equal(t, "a:1", address)
	require.Equal(t, address, key, "another address is another connection")
	_, _, err = r.Resolve(5, 2)
	require.ErrorIs(t, err, gone)
	_, _, err = r.Resolve(5, 3)
	require.ErrorContains(t, err, "node 3 is not a member")
	// What the engine learns from messages changes nothing.
	r.Add(5, 1, "elsewhere")
	r.Remove(5, 1)
	r.RemoveShard(5)
	address, _, err = r.Resolve(5, 1)
	require.NoError(t, err)
	require.Equal(t, "a:1", address)
	require.NoError(t, r.Close())
}
