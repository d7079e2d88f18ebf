package raftnode

import (
	"math/rand"
	"testing"
	"time"

	"github.com/lni/dragonboat/v4/raftpb"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/transport"
)

// caught is an inbound of node 1 of three with two groups, and what came
// through it.
type caught struct {
	inbound
	batches   []raftpb.MessageBatch
	snapshots []raftpb.Chunk
}

func newCaught() *caught {
	c := &caught{}
	c.inbound = inbound{
		node: 1, members: []statemachine.NodeID{1, 2, 3}, groups: 2,
		messages: func(b raftpb.MessageBatch) { c.batches = append(c.batches, b) },
		chunks: func(chunk raftpb.Chunk) bool {
			c.snapshots = append(c.snapshots, chunk)
			return chunk.Index != 13
		},
	}
	return c
}

// fromB is who sends in these tests.
var fromB = transport.Peer{Hello: hello(2, 1), Address: "b", Accepted: true}

// beat is a message that is let through.
func beat() raftpb.Message {
	return raftpb.Message{Type: raftpb.Heartbeat, ShardID: 2, From: 2, To: 1, Term: 5}
}

func frameOf(t *testing.T, messages ...raftpb.Message) []byte {
	frame, err := (&raftpb.MessageBatch{Requests: messages, DeploymentId: 1}).Marshal()
	require.NoError(t, err)
	return frame
}

func TestInboundMessages(t *testing.T) {
	t.Run("OfAPeerComeThrough", func(t *testing.T) {
		c := newCaught()
		require.NoError(t, c.Receive(fromB, transport.Messages, frameOf(t, beat(), beat())))
		require.Len(t, c.batches, 1)
		require.Equal(t, []raftpb.Message{beat(), beat()}, c.batches[0].Requests)
	})

	t.Run("ThatNoEngineSendsBreakTheLink", func(t *testing.T) {
		for kind := raftpb.LocalTick; kind <= raftpb.LogQuery+2; kind++ {
			c := newCaught()
			m := beat()
			m.Type = kind
			err := c.Receive(fromB, transport.Messages, frameOf(t, beat(), m))
			require.Equal(t, sendable[kind], err == nil, "type %v: %v", kind, err)
			if err != nil {
				require.ErrorIs(t, err, errUnwanted)
				require.Empty(t, c.batches, "not even the good part of a bad frame")
			}
		}
		for _, local := range []raftpb.MessageType{
			raftpb.LocalTick, raftpb.Election, raftpb.LeaderHeartbeat, raftpb.ConfigChangeEvent, raftpb.SnapshotStatus,
			raftpb.Unreachable, raftpb.CheckQuorum, raftpb.BatchedReadIndex, raftpb.InstallSnapshot, raftpb.Quiesce, raftpb.LogQuery,
		} {
			require.False(t, sendable[local], "%v", local)
		}
	})

	for _, test := range []struct {
		name  string
		spoil func(*raftpb.Message)
	}{
		{"ToNobodyBreakTheLink", func(m *raftpb.Message) { m.To = 0 }},
		{"ToAnotherNodeBreakTheLink", func(m *raftpb.Message) { m.To = 2 }},
		{"InTheNameOfAnotherNodeBreakTheLink", func(m *raftpb.Message) { m.From = 3 }},
		{"OfNobodyBreakTheLink", func(m *raftpb.Message) { m.From = 0 }},
		{"OfGroupZeroBreakTheLink", func(m *raftpb.Message) { m.ShardID = 0 }},
		{"OfAGroupThatThereIsNotBreakTheLink", func(m *raftpb.Message) { m.ShardID = 3 }},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCaught()
			m := beat()
			test.spoil(&m)
			require.ErrorIs(t, c.Receive(fromB, transport.Messages, frameOf(t, m)), errUnwanted)
			require.Empty(t, c.batches)
		})
	}

	t.Run("OfANodeThatIsNotAMemberBreakTheLink", func(t *testing.T) {
		c, m, stranger := newCaught(), beat(), transport.Peer{Hello: hello(4, 1)}
		m.From = 4
		require.ErrorIs(t, c.Receive(stranger, transport.Messages, frameOf(t, m)), errUnwanted)
		require.Empty(t, c.batches)
	})

	t.Run("ThatAreGarbageBreakTheLinkAndNothingElse", func(t *testing.T) {
		seed := time.Now().UnixNano()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewSource(seed))
		good := frameOf(t, beat(), raftpb.Message{
			Type: raftpb.Replicate, ShardID: 1, From: 2, To: 1,
			Entries: []raftpb.Entry{{Index: 1, Term: 1, Cmd: []byte("command")}},
		})
		for range 20_000 {
			frame := append([]byte(nil), good[:random.Intn(len(good)+1)]...)
			for range random.Intn(4) {
				if len(frame) > 0 {
					frame[random.Intn(len(frame))] = byte(random.Intn(256))
				}
			}
			c := newCaught()
			_ = c.Receive(fromB, transport.Messages, frame) // it must not panic
			for _, b := range c.batches {
				for _, m := range b.Requests {
					require.True(t, sendable[m.Type])
					require.NoError(t, c.check(fromB, m.ShardID, m.From, m.To))
				}
			}
		}
	})
}

func TestInboundChunks(t *testing.T) {
	chunk := raftpb.Chunk{ShardID: 1, ReplicaID: 1, From: 2, Index: 7, Data: []byte("data")}
	receive := func(c *caught, chunk raftpb.Chunk) error {
		frame, err := chunk.Marshal()
		require.NoError(t, err)
		return c.Receive(fromB, transport.Chunks, frame)
	}

	t.Run("ComeThrough", func(t *testing.T) {
		c := newCaught()
		require.NoError(t, receive(c, chunk))
		require.Equal(t, []byte("data"), c.snapshots[0].Data)
	})

	t.Run("ThatTheEngineDoesNotWantBreakTheLink", func(t *testing.T) {
		c := newCaught()
		unlucky := chunk
		unlucky.Index = 13
		require.ErrorContains(t, receive(c, unlucky), "does not want")
	})

	t.Run("InTheNameOfAnotherNodeBreakTheLink", func(t *testing.T) {
		c := newCaught()
		forged := chunk
		forged.From = 3
		require.ErrorIs(t, receive(c, forged), errUnwanted)
		require.Empty(t, c.snapshots)
	})

	t.Run("OfAGroupThatThereIsNotBreakTheLink", func(t *testing.T) {
		c := newCaught()
		astray := chunk
		astray.ShardID = 9
		require.ErrorIs(t, receive(c, astray), errUnwanted)
		require.Empty(t, c.snapshots)
	})

	t.Run("ThatAreGarbageBreakTheLink", func(t *testing.T) {
		require.ErrorIs(t, newCaught().Receive(fromB, transport.Chunks, []byte{0xff, 0xff}), errUnwanted)
	})
}

func TestFramesOfAnUnknownKindBreakTheLink(t *testing.T) {
	require.ErrorIs(t, newCaught().Receive(fromB, 9, nil), errUnwanted)
}
