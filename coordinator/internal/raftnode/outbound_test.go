package raftnode

import (
	"errors"
	"testing"

	"github.com/lni/dragonboat/v4/raftpb"
	"github.com/stretchr/testify/require"

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
		require.NoError(t, o.sendBatch(raftpb.MessageBatch{Requests: []raftpb.Message{beat(), beat()}}))
		require.NoError(t, o.sendBatch(raftpb.MessageBatch{Requests: []raftpb.Message{beat()}}))
		require.Len(t, link.frames, 2)
		c := newCaught()
		require.NoError(t, c.Receive(fromB, transport.Messages, link.frames[0]))
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
		require.NoError(t, o.sendBatch(raftpb.MessageBatch{Requests: sent}))
		require.Greater(t, len(link.frames), 1)
		c := newCaught()
		var order []uint64
		for _, frame := range link.frames {
			require.LessOrEqual(t, len(frame), transport.FrameBytesMax)
			require.NoError(t, c.Receive(fromB, transport.Messages, frame))
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
		err := o.sendBatch(raftpb.MessageBatch{Requests: []raftpb.Message{replicate(1, transport.FrameBytesMax)}})
		require.ErrorContains(t, err, "does not fit")
	})

	t.Run("PassesTheErrorOfTheLinkOn", func(t *testing.T) {
		broken := errors.New("broken")
		o := &outbound{link: &tape{err: broken}}
		require.ErrorIs(t, o.sendBatch(raftpb.MessageBatch{}), broken)
		require.ErrorIs(t, o.SendChunk(raftpb.Chunk{}), broken)
		twice := raftpb.MessageBatch{Requests: []raftpb.Message{replicate(1, 40<<20), replicate(2, 40<<20)}}
		require.ErrorIs(t, o.sendBatch(twice), broken)
	})

	t.Run("ClosesItsLink", func(t *testing.T) {
		link := &tape{}
		(&outbound{link: link}).Close()
		require.Equal(t, 1, link.closed)
	})
}
