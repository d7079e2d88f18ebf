package raftnode

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lni/dragonboat/v4/raftpb"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

// switchboard is what a stream dials: each dial waits for its answer.
type switchboard struct {
	dials   chan chan dialled // one for each dial, to be answered
	reports chan uint64       // groups told to be unreachable
}

func newSwitchboard() *switchboard {
	return &switchboard{dials: make(chan chan dialled, 100), reports: make(chan uint64, 100)}
}

func (b *switchboard) stream(ctx context.Context, election time.Duration) *stream {
	return newStream(ctx, election, func(ctx context.Context) (transport.Link, error) {
		answer := make(chan dialled, 1)
		b.dials <- answer
		select {
		case d := <-answer:
			return d.link, d.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}, func(group, _ uint64) { b.reports <- group })
}

// answer answers the next dial.
func (b *switchboard) answer(d dialled) { (<-b.dials) <- d }

// batchOf is a batch with a heartbeat for each group.
func batchOf(groups ...uint64) raftpb.MessageBatch {
	var batch raftpb.MessageBatch
	for _, group := range groups {
		batch.Requests = append(batch.Requests, raftpb.Message{Type: raftpb.Heartbeat, ShardID: group, From: 1, To: 2})
	}
	return batch
}

func TestStream(t *testing.T) {
	const long = 10 * patience // E/10 is then longer than the test may take
	nowhere := dialled{err: errors.New("nobody there")}

	t.Run("DialsAtTheFirstBatchAndSendsIt", func(t *testing.T) {
		b, link := newSwitchboard(), &tape{}
		s := b.stream(context.Background(), long)
		defer s.Close()
		require.Empty(t, b.dials, "nothing to send yet")
		go b.answer(dialled{link: link})
		require.NoError(t, s.SendMessageBatch(batchOf(1, 2)))
		require.NoError(t, s.SendMessageBatch(batchOf(1)))
		require.Len(t, link.frames, 2)
		require.Empty(t, b.reports)
	})

	t.Run("DropsWhatItCanNotSendAndSaysSoOnceAfterEachFailure", func(t *testing.T) {
		b := newSwitchboard()
		s := b.stream(context.Background(), long)
		defer s.Close()
		go b.answer(nowhere)
		require.NoError(t, s.SendMessageBatch(batchOf(1, 2, 1)))
		require.NoError(t, s.SendMessageBatch(batchOf(2, 3)))
		require.Len(t, b.reports, 3)
		for _, group := range []uint64{1, 2, 3} {
			require.Equal(t, group, <-b.reports)
		}
		require.Empty(t, b.dials, "not again before the pause is over")
		s.next = time.Time{}
		go b.answer(nowhere)
		require.NoError(t, s.SendMessageBatch(batchOf(1)))
		require.EqualValues(t, 1, <-b.reports)
	})

	t.Run("DialsAgainAtOnceWhenALinkBreaks", func(t *testing.T) {
		b, broken, next := newSwitchboard(), &tape{err: errors.New("broken")}, &tape{}
		s := b.stream(context.Background(), long)
		defer s.Close()
		go b.answer(dialled{link: broken})
		require.NoError(t, s.SendMessageBatch(batchOf(7)))
		require.Equal(t, 1, broken.closed)
		require.EqualValues(t, 7, <-b.reports)
		b.answer(dialled{link: next})
		require.NoError(t, s.SendMessageBatch(batchOf(7)))
		require.Len(t, next.frames, 1)
		require.Empty(t, b.reports)
	})

	t.Run("PausesFromATenthToHalfOfAnElection", func(t *testing.T) {
		b := newSwitchboard()
		s := b.stream(context.Background(), time.Hour)
		defer s.Close()
		for _, minutes := range []time.Duration{6, 12, 24, 30, 30} {
			pause := minutes * time.Minute
			s.next = time.Time{}
			go b.answer(nowhere)
			before := time.Now()
			require.NoError(t, s.SendMessageBatch(batchOf(1)))
			require.GreaterOrEqual(t, s.next, before.Add(pause/2))
			require.LessOrEqual(t, s.next, time.Now().Add(pause))
		}
		s.next = time.Time{}
		link := &tape{}
		go b.answer(dialled{link: link})
		require.NoError(t, s.SendMessageBatch(batchOf(1)))
		require.Equal(t, 6*time.Minute, s.pause, "a success makes the next pause short again")
	})

	t.Run("DialsWithPausesAPeerThatBreaksEveryLink", func(t *testing.T) {
		dials := 0
		s := newStream(context.Background(), long, func(context.Context) (transport.Link, error) {
			dials++
			return &tape{err: errors.New("broken")}, nil
		}, func(uint64, uint64) {})
		defer s.Close()
		for range 1000 {
			require.NoError(t, s.SendMessageBatch(batchOf(1)))
		}
		require.LessOrEqual(t, dials, 2)
	})

	t.Run("DoesNotWaitLongForASlowDial", func(t *testing.T) {
		b := newSwitchboard()
		s := b.stream(context.Background(), 10*time.Millisecond)
		defer s.Close()
		require.NoError(t, s.SendMessageBatch(batchOf(1)))
		require.NoError(t, s.SendMessageBatch(batchOf(1)))
		require.Len(t, b.dials, 1, "the first dial goes on")
		link := &tape{}
		b.answer(dialled{link: link})
		for len(link.frames) == 0 {
			require.NoError(t, s.SendMessageBatch(batchOf(1)))
		}
	})

	t.Run("CloseEndsADialAndTheLinkThatCameLate", func(t *testing.T) {
		late := &tape{}
		s := newStream(context.Background(), 10*time.Millisecond, func(ctx context.Context) (transport.Link, error) {
			<-ctx.Done()
			return late, nil
		}, func(uint64, uint64) {})
		require.NoError(t, s.SendMessageBatch(batchOf(1)))
		s.Close()
		require.Equal(t, 1, late.closed)
	})

	t.Run("EndsWithItsContext", func(t *testing.T) {
		b := newSwitchboard()
		ctx, cancel := context.WithCancel(context.Background())
		s := b.stream(ctx, long)
		cancel()
		require.NoError(t, s.SendMessageBatch(batchOf(1)))
		s.Close()
	})
}
