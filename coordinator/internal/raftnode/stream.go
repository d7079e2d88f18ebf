package raftnode

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/lni/dragonboat/v4/raftio"
	"github.com/lni/dragonboat/v4/raftpb"

	"github.com/palisade-go/palisade/transport"
)

// stream carries messages to one peer over one link after the other. It dials
// when there is something to send; what can't be sent is dropped, as Raft
// expects of a network.
//
// The engine would break the connection at the first error and not look again
// for 0.25 to 1.5 s, longer than an election timeout may be: a node that was
// restarted would hear no heartbeat, and stand for election. Here the first
// dial follows at once, and the pause after one that failed grows from E/10 to
// E/2, so that a heartbeat, which comes every E/10, finds a peer in time.
//
// The engine uses it from one goroutine.
type stream struct {
	ctx         context.Context
	cancel      context.CancelFunc
	dial        func(context.Context) (transport.Link, error)
	unreachable func(group, replica uint64)

	out      outbound // its link is nil while there is none
	dialling chan dialled
	step     time.Duration // E/10: the first pause, and how long a batch waits for a dial
	pause    time.Duration // after the next dial that fails
	next     time.Time     // when to dial again
	broke    time.Time     // when the last link broke
	told     map[uint64]bool
}

// dialled is what came of a dial.
type dialled struct {
	link transport.Link
	err  error
}

var _ raftio.IConnection = (*stream)(nil)

func newStream(ctx context.Context, election time.Duration,
	dial func(context.Context) (transport.Link, error), unreachable func(group, replica uint64)) *stream {
	ctx, cancel := context.WithCancel(ctx)
	step := election / 10
	return &stream{ctx: ctx, cancel: cancel, dial: dial, unreachable: unreachable, step: step, pause: step, told: map[uint64]bool{}}
}

// SendMessageBatch implements raftio.IConnection. It waits for a dial under
// way, at most E/10, and never returns an error: see stream.
func (s *stream) SendMessageBatch(batch raftpb.MessageBatch) error {
	if s.out.link == nil && !s.connect() {
		s.dropped(batch)
		return nil
	}
	if err := s.out.sendBatch(batch); err != nil {
		s.disconnect()
		s.dropped(batch)
		s.again()
	}
	return nil
}

// connect reports whether there is a link now.
func (s *stream) connect() bool {
	if s.dialling == nil {
		if time.Now().Before(s.next) {
			return false
		}
		s.begin()
	}
	patience := time.NewTimer(s.step)
	defer patience.Stop()
	select {
	case done := <-s.dialling:
		s.dialling = nil
		if done.err != nil {
			s.failed()
			return false
		}
		s.out.link, s.pause = done.link, s.step
		return true
	case <-patience.C:
	case <-s.ctx.Done():
	}
	return false
}

// begin starts a dial.
func (s *stream) begin() {
	done := make(chan dialled, 1)
	s.dialling = done
	go func() {
		link, err := s.dial(s.ctx)
		done <- dialled{link, err}
	}()
}

// again dials after a link broke: at once, unless the one before it broke just
// now too. A peer that accepts and then breaks every link must not be dialled
// for every batch.
func (s *stream) again() {
	now := time.Now()
	if now.Sub(s.broke) < s.step {
		s.failed()
	} else {
		s.begin()
	}
	s.broke = now
}

// failed puts the next dial off. Peers that lost one node at the same moment
// shall not all come back at the same moment.
func (s *stream) failed() {
	s.next = time.Now().Add(s.pause/2 + rand.N(s.pause/2+1))
	s.pause = min(2*s.pause, 5*s.step)
	clear(s.told)
}

// disconnect gives the link up.
func (s *stream) disconnect() {
	s.out.Close()
	s.out.link = nil
	clear(s.told)
}

// dropped tells the engine whom a batch has not reached, once after each
// failure.
func (s *stream) dropped(batch raftpb.MessageBatch) {
	for _, m := range batch.Requests {
		if !s.told[m.ShardID] {
			s.told[m.ShardID] = true
			s.unreachable(m.ShardID, m.To)
		}
	}
}

// Close implements raftio.IConnection. It ends a dial under way and waits for
// that.
func (s *stream) Close() {
	s.cancel()
	if s.out.link != nil {
		s.disconnect()
	}
	if s.dialling == nil {
		return
	}
	if done := <-s.dialling; done.link != nil {
		_ = done.link.Close()
	}
}
