package transport_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

const (
	stormNodes  = 4
	stormFaults = 1500
)

// Nodes send, dial again when a link breaks, and restart their listeners while
// faults come and go. Whatever happens: the order of each link holds, nothing
// comes from nowhere, every frame is accounted for, and all of it ends.
func TestMemoryInAStorm(t *testing.T) {
	seed := rand.Int64()
	t.Logf("seed %d", seed)
	network := transport.NewMemory(seed)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	addr := func(node int) string { return fmt.Sprint("node-", node) }
	failed := func(format string, arguments ...any) {
		t.Errorf("seed %d: %s", seed, fmt.Sprintf(format, arguments...))
	}

	order := &stormOrder{last: map[uint64]uint64{}, failed: failed}
	listeners := make([]io.Closer, stormNodes)
	for node := range stormNodes {
		var err error
		listeners[node], err = network.Listen(addr(node), order)
		require.NoError(t, err)
	}
	for from := range stormNodes {
		for to := range stormNodes {
			if from == to {
				continue
			}
			running.Add(1)
			go func() {
				defer running.Done()
				stormSender(ctx, network, addr(from), addr(to), uint64(from*stormNodes+to), failed)
			}()
		}
	}

	random := rand.New(rand.NewPCG(uint64(seed), 1))
	for range stormFaults {
		from, to := addr(random.IntN(stormNodes)), addr(random.IntN(stormNodes))
		switch random.IntN(12) {
		case 0:
			network.Cut(from, to)
		case 1:
			network.BlackHole(from, to)
		case 2:
			network.Delay(from, to, 0, time.Duration(random.IntN(2000))*time.Microsecond)
		case 3:
			network.Drop(from, to, random.Float64())
		case 4:
			network.Duplicate(from, to, random.Float64())
		case 5:
			network.Isolate(from)
		case 6:
			network.Rejoin(from)
		case 7:
			network.HealAll()
		case 8:
			node := random.IntN(stormNodes)
			require.NoError(t, listeners[node].Close())
			var err error
			listeners[node], err = network.Listen(addr(node), order)
			require.NoError(t, err, "an address is free once its listener has closed")
		default:
			network.Heal(from, to)
		}
	}
	network.HealAll()
	before := order.count()
	eventually(t, func() bool { return order.count() > before+100 }, "traffic goes on after the storm")
	stop()
	running.Wait()
	for from := range stormNodes {
		for to := range stormNodes {
			requireBalance(t, network, addr(from), addr(to))
		}
	}
	require.NoError(t, network.Close()) // also waits for the last Receive

	var total transport.Stats
	for from := range stormNodes {
		for to := range stormNodes {
			stats := network.Stats(addr(from), addr(to))
			total.Sent += stats.Sent
			total.Dropped += stats.Dropped
			total.Duplicated += stats.Duplicated
			total.Delayed += stats.Delayed
			total.Delivered += stats.Delivered
			total.DialsRefused += stats.DialsRefused
			total.DialsHeld += stats.DialsHeld
			total.LinksBroken += stats.LinksBroken
		}
	}
	t.Logf("%+v", total)
	for fault, count := range map[string]uint64{
		"dropped": total.Dropped, "duplicated": total.Duplicated, "delayed": total.Delayed,
		"dials refused": total.DialsRefused, "dials held": total.DialsHeld, "links broken": total.LinksBroken,
	} {
		require.NotZero(t, count, "seed %d: the storm had nothing %s", seed, fault)
	}
	require.Equal(t, total.Delivered, order.count(), "seed %d: every delivery was counted", seed)
}

// stormOrder checks that the numbers of each link never fall. A duplicate
// repeats its number, a drop leaves one out.
type stormOrder struct {
	failed func(format string, arguments ...any)

	mu       sync.Mutex
	last     map[uint64]uint64 // by link
	received uint64
}

func (o *stormOrder) Receive(from string, _ transport.Kind, frame []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.received++
	if len(frame) != 16 {
		o.failed("frame of %d bytes", len(frame))
		return errors.New("no frame of the storm")
	}
	link, number := binary.BigEndian.Uint64(frame), binary.BigEndian.Uint64(frame[8:])
	if number < o.last[link] {
		o.failed("link %x from %s: %d came after %d", link, from, number, o.last[link])
	}
	o.last[link] = number
	if number%997 == 996 {
		return errors.New("the handler has had enough")
	}
	return nil
}

func (o *stormOrder) count() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.received
}

// stormSender keeps one link of a direction open and busy until ctx ends.
func stormSender(ctx context.Context, network *transport.Memory, from, to string, id uint64, failed func(string, ...any)) {
	for links := uint64(0); ctx.Err() == nil; links++ {
		patience, cancel := context.WithTimeout(ctx, time.Millisecond)
		link, err := network.Dial(patience, from, to, transport.Messages)
		cancel()
		if err != nil {
			if !errors.Is(err, transport.ErrUnreachable) && !errors.Is(err, patience.Err()) {
				failed("dial: %v", err)
			}
			continue
		}
		for number := uint64(1); ctx.Err() == nil; number++ {
			frame := binary.BigEndian.AppendUint64(nil, id<<32|links)
			if err := link.Send(binary.BigEndian.AppendUint64(frame, number)); err != nil {
				if !errors.Is(err, transport.ErrBroken) {
					failed("send: %v", err)
				}
				break
			}
		}
		if err := link.Close(); err != nil {
			failed("close: %v", err)
		}
	}
}
