package transport_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"flag"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
	"github.com/palisade-go/palisade/transport/transporttest"
)

var hostileConnections = flag.Int("hostile", hostileDefault, "number of hostile connections")

// enemy opens connections that no node would.
type enemy struct {
	t         *testing.T
	random    *rand.Rand // each worker has its own
	addr      string
	stranger  *tls.Config // a certificate of another authority
	traitor   *tls.Config // a right certificate in wrong hands
	opening   []byte      // a whole ClientHello
	strangers *transporttest.Strangers
	met       *atomic.Int64 // connections that were made
}

// attack makes one connection.
func (e *enemy) attack() {
	conn := e.strangers.Dial(e.addr)
	if conn == nil {
		return
	}
	e.met.Add(1)
	switch sort := e.random.IntN(20); {
	case sort < 4: // noise
		noise := make([]byte, 1+e.random.IntN(2000))
		for at := range noise {
			noise[at] = byte(e.random.Uint32())
		}
		e.strangers.Say(conn, noise)
	case sort < 6: // of another house
		e.strangers.Say(conn, []byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
	case sort < 8: // plaintext with a huge length
		e.strangers.Say(conn, append(preface(transport.Chunks), bytes.Repeat([]byte{0xff}, 8)...))
	case sort < 9: // TLS with a huge length
		e.strangers.Say(conn, []byte{0x16, 3, 1, 0xff, 0xff})
	case sort < 12: // half a handshake, and silence
		_, _ = conn.Write(e.opening[:1+e.random.IntN(len(e.opening)-1)])
		e.strangers.Stay(conn)
	case sort < 14: // a handshake whose answer nobody takes
		_, _ = conn.Write(e.opening)
		e.strangers.Stay(conn)
	case sort < 15: // silence
		e.strangers.Stay(conn)
	case sort < 17: // a wrong certificate
		e.strangers.Say(tls.Client(conn, e.stranger), helloFrame(hello(3)))
	case sort < 18: // a node that lies
		e.strangers.Say(tls.Client(conn, e.traitor), helloFrame(hello(1)))
	case sort < 19: // a node gone mad: a frame that never ends
		e.strangers.Say(tls.Client(conn, e.traitor), helloFrame(hello(3)), yes(), binary.BigEndian.AppendUint64(nil, 1<<63-1))
	default: // a probe
		conn.Close()
	}
}

// clientHello returns what a TLS client says first.
func clientHello(t *testing.T, papers *tls.Config) []byte {
	t.Helper()
	near, far := net.Pipe()
	done := make(chan error, 1)
	go func() { done <- tls.Client(near, papers).Handshake() }()
	header := make([]byte, 5)
	_, err := io.ReadFull(far, header)
	require.NoError(t, err)
	body := make([]byte, binary.BigEndian.Uint16(header[3:]))
	_, err = io.ReadFull(far, body)
	require.NoError(t, err)
	require.NoError(t, far.Close())
	require.Error(t, <-done)
	return append(header, body...)
}

// papersOf loads what a TLS client shows.
func papersOf(t *testing.T, files transport.TLS) *tls.Config {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(files.CertFile, files.KeyFile)
	require.NoError(t, err)
	return &tls.Config{
		Certificates: []tls.Certificate{pair}, InsecureSkipVerify: true, NextProtos: []string{"palisade-messages/1"},
	}
}

// exchange is a game of ball between two nodes: each frame is answered by the
// next number over the link of the other, until it is stopped.
type exchange struct {
	t       *testing.T
	rounds  atomic.Uint64
	stopped atomic.Bool
	ended   chan struct{}
}

// player is the handler of one node of an exchange.
type player struct {
	*exchange
	back *transport.Link // to the other; set before the first frame
}

func (p player) Receive(from transport.Peer, _ transport.Kind, frame []byte) error {
	if from.Address == visitorAddress {
		return nil
	}
	number := binary.BigEndian.Uint64(frame)
	if want := p.rounds.Add(1); number != want {
		p.t.Errorf("frame %d came, frame %d is next", number, want)
	}
	if p.stopped.Load() {
		close(p.ended)
		return nil
	}
	return (*p.back).Send(binary.BigEndian.AppendUint64(nil, number+1))
}

// visitorAddress is what a node calls itself on links outside of the game.
const visitorAddress = "visitor:1"

func TestHostileConnectionsDisturbNobody(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	authority := transporttest.NewAuthority(t)
	a, b := newTCP(t, secure(t, authority, 1)), newTCP(t, secure(t, authority, 2))
	ball := &exchange{t: t, ended: make(chan struct{})}
	var ab, ba transport.Link
	addrA, addrB := serve(t, a, "127.0.0.1", player{ball, &ab}), serve(t, b, "127.0.0.1", player{ball, &ba})
	var err error
	ab, err = dialTCP(t, a, addrB)
	require.NoError(t, err)
	ba, err = dialTCP(t, b, addrA)
	require.NoError(t, err)

	heap := heapAfterGC()
	goroutines := runtime.NumGoroutine()
	require.NoError(t, ab.Send(binary.BigEndian.AppendUint64(nil, 1)))

	strangers := transporttest.NewStrangers(t, 3*transport.LobbyMax)
	defer strangers.Close()
	traitor := papersOf(t, secure(t, authority, 3).TLS)
	opening := clientHello(t, traitor)
	stranger := papersOf(t, secure(t, transporttest.NewAuthority(t), 3).TLS)
	var met, peak atomic.Int64
	left := make(chan struct{}, *hostileConnections)
	for range *hostileConnections {
		left <- struct{}{}
	}
	close(left)
	var workers sync.WaitGroup
	for worker := range uint64(48) {
		e := &enemy{
			t: t, random: rand.New(rand.NewPCG(seed, worker)), addr: []string{addrA, addrB}[worker%2],
			stranger: stranger, traitor: traitor, opening: opening, strangers: strangers, met: &met,
		}
		workers.Add(1)
		go func() {
			defer workers.Done()
			for range left {
				e.attack()
				if e.met.Load()%1000 == 0 {
					peak.Store(max(peak.Load(), int64(heapAfterGC())))
				}
			}
		}()
	}
	overrun := make(chan struct{})
	go func() {
		defer close(overrun)
		workers.Wait()
	}()
	visits, turnedAway := visit(t, a, addrB, overrun)

	require.EqualValues(t, *hostileConnections, met.Load(), "every attack happened")
	rounds := ball.rounds.Load()
	ball.stopped.Store(true)
	select {
	case <-ball.ended:
	case <-time.After(waitMax):
		require.FailNow(t, "a frame was lost", "after %d rounds", ball.rounds.Load())
	}
	t.Logf("%d frames exchanged, %d new links, %d dials in vain, heap %d KiB before and %d KiB at most",
		rounds, visits, turnedAway, heap>>10, peak.Load()>>10)
	require.Greater(t, rounds, uint64(*hostileConnections/100), "the exchange went on")
	require.Positive(t, visits, "links came about")
	require.Less(t, turnedAway, 1+visits/2, "a dial in vain is the exception")
	strangers.Close()
	eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+1 /* the one that looks */ },
		"goroutines end with their connections")
	require.Less(t, peak.Load(), int64(heap)+64<<20, "while it lasts")
	require.Less(t, heapAfterGC(), heap+8<<20, "when it is over")
}

// visit opens links one after the other until the end, and returns how many
// came about and how many did not.
func visit(t *testing.T, network *transport.TCP, addr string, end <-chan struct{}) (visits, turnedAway int) {
	t.Helper()
	for {
		select {
		case <-end:
			return visits, turnedAway
		default:
		}
		ctx, cancel := context.WithTimeout(context.Background(), waitMax)
		link, err := network.Dial(ctx, visitorAddress, addr, transport.Messages)
		cancel()
		if err != nil {
			require.ErrorIs(t, err, transport.ErrUnreachable)
			turnedAway++
			continue
		}
		visits++
		require.NoError(t, link.Send([]byte("good day")))
		require.NoError(t, link.Close())
	}
}

// heapAfterGC returns how many bytes of the heap are in use.
func heapAfterGC() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
