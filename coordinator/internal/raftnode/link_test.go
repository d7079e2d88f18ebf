package raftnode

import (
	"context"
	"errors"
	"testing"

	"github.com/lni/dragonboat/v4/config"
	"github.com/lni/dragonboat/v4/raftpb"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/transport"
)

// tape is a link that remembers what was sent.
type tape struct {
	frames [][]byte
	err    error
	closed int
}

func (l *tape) Send(frame []byte) error {
	if l.err != nil {
		return l.err
	}
	l.frames = append(l.frames, append([]byte(nil), frame...))
	return nil
}

func (l *tape) Close() error {
	l.closed++
	return nil
}

func TestOutbound(t *testing.T) {
	entries := func(size int) []raftpb.Entry { return []raftpb.Entry{{Index: 1, Cmd: make([]byte, size)}} }
	replicate := func(index uint64, size int) raftpb.Message {
		return raftpb.Message{Type: raftpb.Replicate, ShardID: 1, From: 2, To: 1, LogIndex: index, Entries: entries(size)}
	}

	t.Run("SendsABatchInOneFrame", func(t *testing.T) {
		link := &tape{}
		o := &outbound{link: link}
		require.NoError(t, o.SendMessageBatch(raftpb.MessageBatch{Requests: []raftpb.Message{beat(), beat()}}))
		require.NoError(t, o.SendMessageBatch(raftpb.MessageBatch{Requests: []raftpb.Message{beat()}}))
		require.Len(t, link.frames, 2)
		c := newCaught()
		require.NoError(t, c.Receive("b", transport.Messages, link.frames[0]))
		require.Equal(t, []raftpb.Message{beat(), beat()}, c.batches[0].Requests)
	})

	t.Run("SplitsABatchThatIsTooLongInOrder", func(t *testing.T) {
		link := &tape{}
		o := &outbound{link: link}
		const size = 20 << 20
		var sent []raftpb.Message
		for i := range uint64(5) {
			sent = append(sent, replicate(i, size))
		}
		require.NoError(t, o.SendMessageBatch(raftpb.MessageBatch{Requests: sent}))
		require.Greater(t, len(link.frames), 1)
		c := newCaught()
		var order []uint64
		for _, frame := range link.frames {
			require.LessOrEqual(t, len(frame), transport.FrameBytesMax)
			require.NoError(t, c.Receive("b", transport.Messages, frame))
		}
		for _, b := range c.batches {
			for _, m := range b.Requests {
				order = append(order, m.LogIndex)
			}
		}
		require.Equal(t, []uint64{0, 1, 2, 3, 4}, order)
		require.Nil(t, o.buffer, "a large buffer is not kept")
	})

	t.Run("RefusesAMessageThatFitsIntoNoFrame", func(t *testing.T) {
		o := &outbound{link: &tape{}}
		err := o.SendMessageBatch(raftpb.MessageBatch{Requests: []raftpb.Message{replicate(1, transport.FrameBytesMax)}})
		require.ErrorContains(t, err, "does not fit")
	})

	t.Run("PassesTheErrorOfTheLinkOn", func(t *testing.T) {
		broken := errors.New("broken")
		o := &outbound{link: &tape{err: broken}}
		require.ErrorIs(t, o.SendMessageBatch(raftpb.MessageBatch{}), broken)
		require.ErrorIs(t, o.SendChunk(raftpb.Chunk{}), broken)
		twice := raftpb.MessageBatch{Requests: []raftpb.Message{replicate(1, 40<<20), replicate(2, 40<<20)}}
		require.ErrorIs(t, o.SendMessageBatch(twice), broken)
	})

	t.Run("ClosesItsLink", func(t *testing.T) {
		link := &tape{}
		(&outbound{link: link}).Close()
		require.Equal(t, 1, link.closed)
	})
}

func TestLinks(t *testing.T) {
	network := transport.NewMemory(1)
	defer func() { require.NoError(t, network.Close()) }()
	factory := &linkFactory{network: network, node: 1, members: []statemachine.NodeID{1, 2, 3}, groups: 2}
	received := make(chan raftpb.MessageBatch, 1)
	chunks := make(chan raftpb.Chunk, 1)
	l := factory.Create(config.NodeHostConfig{RaftAddress: "a:1"},
		func(b raftpb.MessageBatch) { received <- b },
		func(c raftpb.Chunk) bool { chunks <- c; return true })
	require.NotEmpty(t, l.Name())
	require.NoError(t, l.Close(), "Close before Start is what the engine does when Start failed")
	require.NoError(t, l.Start())

	t.Run("CarryMessagesAndChunks", func(t *testing.T) {
		connection, err := l.GetConnection(context.Background(), "a:1")
		require.NoError(t, err)
		defer connection.Close()
		require.NoError(t, connection.SendMessageBatch(raftpb.MessageBatch{Requests: []raftpb.Message{beat()}}))
		require.Equal(t, []raftpb.Message{beat()}, (<-received).Requests)
		snapshot, err := l.GetSnapshotConnection(context.Background(), "a:1")
		require.NoError(t, err)
		defer snapshot.Close()
		require.NoError(t, snapshot.SendChunk(raftpb.Chunk{ShardID: 1, ReplicaID: 1, From: 2}))
		require.EqualValues(t, 1, (<-chunks).ShardID)
	})

	t.Run("SayWhomTheyCouldNotReach", func(t *testing.T) {
		network.Cut("a:1", "b:1")
		_, err := l.GetConnection(context.Background(), "b:1")
		require.ErrorIs(t, err, transport.ErrUnreachable)
		require.ErrorContains(t, err, "b:1")
		_, err = l.GetSnapshotConnection(context.Background(), "b:1")
		require.ErrorIs(t, err, transport.ErrUnreachable)
	})

	t.Run("GiveUpWithTheContext", func(t *testing.T) {
		network.BlackHole("a:1", "c:1")
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := l.GetConnection(ctx, "c:1")
		require.ErrorIs(t, err, context.Canceled)
	})

	t.Run("SayWhereTheyCouldNotListen", func(t *testing.T) {
		second := factory.Create(config.NodeHostConfig{RaftAddress: "a:1"}, nil, nil)
		err := second.Start()
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
