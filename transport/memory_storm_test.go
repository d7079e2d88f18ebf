package transport_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

const (
	stormNodes = 4
	// stormFaults is how often the storm changes something at least; it goes
	// on until each fault has done something.
	stormFaults = 400
)

// Nodes send, dial again when a link breaks, and restart their listeners while
// faults come and go. Whatever happens: the order of each link holds, nothing
// comes from nowhere, every frame is accounted for, and all of it ends.
func TestMemoryInAStorm(t *testing.T) {
	seed := rand.Int64()
	t.Logf("seed %d", seed)
	s := newStorm(t, seed)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for id, way := range s.ways {
		running.Add(1)
		go func() {
			defer running.Done()
			s.keepSending(ctx, way, uint64(id))
		}()
	}
	random := rand.New(rand.NewPCG(uint64(seed), 1))
	pace := time.NewTicker(500 * time.Microsecond)
	defer pace.Stop()
	deadline := time.Now().Add(waitMax)
	for faults := 0; faults < stormFaults || !s.everythingHappened(); faults++ {
		require.True(t, time.Now().Before(deadline), "seed %d: one of the faults did nothing: %+v", seed, s.total())
		s.change(t, random)
		<-pace.C
	}
	s.network.HealAll()
	before := s.count()
	eventually(t, func() bool { return s.count() > before+100 }, "traffic goes on after the storm")
	stop()
	running.Wait()
	for _, way := range s.ways {
		requireBalance(t, s.network, way[0], way[1])
	}
	require.NoError(t, s.network.Close()) // also waits for the last Receive
	t.Logf("%+v", s.total())
	require.Equal(t, s.total().Delivered, s.count(), "seed %d: every delivery was counted", seed)
}

// storm is a network, and the handler of all its addresses.
type storm struct {
	network   *transport.Memory
	addresses []string
	ways      [][2]string // every direction between two addresses
	listeners []io.Closer
	failed    func(format string, arguments ...any)

	mu       sync.Mutex
	last     map[uint64]uint64 // number received last, by link
	received uint64
}

func newStorm(t *testing.T, seed int64) *storm {
	s := &storm{network: newMemory(t, seed), last: map[uint64]uint64{}}
	s.failed = func(format string, arguments ...any) {
		t.Errorf("seed %d: %s", seed, fmt.Sprintf(format, arguments...))
	}
	for node := range stormNodes {
		s.addresses = append(s.addresses, fmt.Sprint("node-", node))
		listener, err := s.network.Listen(s.addresses[node], s)
		require.NoError(t, err)
		s.listeners = append(s.listeners, listener)
	}
	for _, from := range s.addresses {
		for _, to := range s.addresses {
			if from != to {
				s.ways = append(s.ways, [2]string{from, to})
			}
		}
	}
	return s
}

// change sets or heals something, or restarts a listener.
func (s *storm) change(t *testing.T, random *rand.Rand) {
	way := s.ways[random.IntN(len(s.ways))]
	from, to := way[0], way[1]
	switch random.IntN(12) {
	case 0:
		s.network.Cut(from, to)
	case 1:
		s.network.BlackHole(from, to)
	case 2:
		s.network.Delay(from, to, 0, time.Duration(random.IntN(2000))*time.Microsecond)
	case 3:
		s.network.Drop(from, to, random.Float64())
	case 4:
		s.network.Duplicate(from, to, random.Float64())
	case 5:
		s.network.Isolate(from)
	case 6, 7:
		s.network.Rejoin(from)
	case 8:
		s.network.HealAll()
	case 9:
		node := random.IntN(stormNodes)
		require.NoError(t, s.listeners[node].Close())
		listener, err := s.network.Listen(s.addresses[node], s)
		require.NoError(t, err, "an address is free once its listener has closed")
		s.listeners[node] = listener
	default:
		s.network.Heal(from, to)
	}
}

// total adds up the counters of all directions.
func (s *storm) total() transport.Stats {
	var total transport.Stats
	for _, way := range s.ways {
		stats := s.network.Stats(way[0], way[1])
		total.Sent += stats.Sent
		total.Delivered += stats.Delivered
		total.Dropped += stats.Dropped
		total.Duplicated += stats.Duplicated
		total.Delayed += stats.Delayed
		total.DialsHeld += stats.DialsHeld
		total.DialsRefused += stats.DialsRefused
		total.LinksBroken += stats.LinksBroken
	}
	return total
}

func (s *storm) everythingHappened() bool {
	total := s.total()
	return total.Dropped > 0 && total.Duplicated > 0 && total.Delayed > 0 &&
		total.DialsHeld > 0 && total.DialsRefused > 0 && total.LinksBroken > 0
}

// Receive checks that the numbers of each link never fall. A duplicate repeats
// its number, a drop leaves one out.
func (s *storm) Receive(from transport.Peer, _ transport.Kind, frame []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received++
	if len(frame) != 16 {
		s.failed("frame of %d bytes", len(frame))
		return errors.New("no frame of the storm")
	}
	link, number := binary.BigEndian.Uint64(frame), binary.BigEndian.Uint64(frame[8:])
	if number < s.last[link] {
		s.failed("link %x from %s: %d came after %d", link, from, number, s.last[link])
	}
	s.last[link] = number
	if number%997 == 996 {
		return errors.New("the handler has had enough")
	}
	return nil
}

func (s *storm) count() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.received
}

// keepSending has one link of a direction open and busy until ctx ends.
func (s *storm) keepSending(ctx context.Context, way [2]string, id uint64) {
	for links := uint64(0); ctx.Err() == nil; links++ {
		patience, cancel := context.WithTimeout(ctx, time.Millisecond)
		link, err := s.network.Dial(patience, way[0], way[1], transport.Messages)
		if err != nil {
			<-patience.Done()
			if !errors.Is(err, transport.ErrUnreachable) && !errors.Is(err, patience.Err()) {
				s.failed("dial: %v", err)
			}
		} else {
			s.fill(ctx, link, id<<32|links)
		}
		cancel()
	}
}

// fill sends numbered frames over link until it breaks or ctx ends.
func (s *storm) fill(ctx context.Context, link transport.Link, id uint64) {
	for number := uint64(1); ctx.Err() == nil; number++ {
		frame := binary.BigEndian.AppendUint64(nil, id)
		if err := link.Send(binary.BigEndian.AppendUint64(frame, number)); err != nil {
			if !errors.Is(err, transport.ErrBroken) {
				s.failed("send: %v", err)
			}
			break
		}
		runtime.Gosched()
	}
	if err := link.Close(); err != nil {
		s.failed("close: %v", err)
	}
}
