package transport_test

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

// stall is short enough for a test to wait for.
const stall = 300 * time.Millisecond

// acceptByHand makes the acceptor's side of a handshake and returns the
// connection.
func acceptByHand(t *testing.T, listener net.Listener) stranger {
	t.Helper()
	conn, err := listener.Accept()
	require.NoError(t, err)
	s := newStranger(t, conn)
	_, err = io.ReadFull(s, make([]byte, len(preface(transport.Messages))))
	require.NoError(t, err)
	s.hear()
	s.say(helloFrame(hello(9)), yes())
	require.Nil(t, s.hearAnswer())
	return s
}

// dialByHand returns a link to a peer that is played by hand.
func dialByHand(t *testing.T, cfg transport.TCPConfig) (transport.Link, stranger) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	network := newTCP(t, cfg)
	links := make(chan transport.Link, 1)
	go func() {
		link, err := dialTCP(t, network, listener.Addr().String())
		if err != nil {
			t.Error(err)
		}
		links <- link
	}()
	s := acceptByHand(t, listener)
	return <-links, s
}

func TestAPeerThatTakesNothingBreaksTheLink(t *testing.T) {
	cfg := plain(1)
	cfg.Stall = stall
	link, _ := dialByHand(t, cfg)
	sent := 0
	var err error
	for frame := make([]byte, 1<<20); err == nil; sent++ {
		require.LessOrEqual(t, sent<<20, 2*transport.FrameBytesMax, "rule 4")
		err = link.Send(frame)
	}
	require.ErrorIs(t, err, transport.ErrBroken)
}

func TestAPeerThatIsSlowDoesNot(t *testing.T) {
	const pieces, pieceBytes = 16, 1 << 20
	cfg := plain(1)
	cfg.Stall = 4 * time.Second // a busy machine does not stand still for so long
	link, s := dialByHand(t, cfg)
	require.NoError(t, s.Conn.(*net.TCPConn).SetReadBuffer(64<<10))
	require.NoError(t, link.Send(make([]byte, pieces*pieceBytes)))
	require.NoError(t, link.Close())
	pace := time.NewTicker(cfg.Stall / 10)
	defer pace.Stop()
	total := 0
	for buffer := make([]byte, pieceBytes); ; {
		n, err := io.ReadFull(s, buffer)
		total += n
		if err != nil {
			break
		}
		<-pace.C
	}
	require.Equal(t, pieces*pieceBytes+8, total, "it took longer than a stall may, and went on all the time")
}

func TestAFrameThatDoesNotComeToItsEndBreaksTheLink(t *testing.T) {
	cfg := plain(1)
	cfg.Stall, cfg.Handshake = 2*time.Second, waitMax
	in := make(inbox, 4)
	addr := serve(t, newTCP(t, cfg), "127.0.0.1", in)
	idle, quiet, headless, halfway := call(t, addr), call(t, addr), call(t, addr), call(t, addr)
	for node, s := range []stranger{idle, quiet, headless, halfway} {
		s.join(uint64(node) + 2)
		s.say(transport.AppendFrame(nil, []byte("whole")))
		require.Equal(t, "whole", in.next(t))
	}
	begin := time.Now()
	parted := transport.AppendFrame(nil, bytes.Repeat([]byte("x"), 100_000))
	idle.say(parted[:50_000])
	headless.say([]byte{0, 0})
	halfway.say(transport.AppendFrame(nil, make([]byte, 1000))[:500])
	idle.say(parted[50_000:])
	require.Len(t, in.next(t), 100_000)
	headless.hearEnd()
	halfway.hearEnd()
	require.GreaterOrEqual(t, time.Since(begin), cfg.Stall)
	for _, s := range []stranger{idle, quiet} {
		s.say(transport.AppendFrame(nil, []byte("still there")))
		require.Equal(t, "still there", in.next(t), "a link without a frame on its way may be idle")
	}
}

func TestAHandshakeThatDoesNotComeToItsEndIsEnded(t *testing.T) {
	hello2, answer := helloFrame(hello(2)), yes()
	for _, c := range []struct {
		statement string
		says      []byte
	}{
		{"BeforeItsFirstByte", nil},
		{"InsideThePreface", preface(transport.Messages)[:4]},
		{"BehindThePreface", preface(transport.Messages)},
		{"InsideTheHello", append(preface(transport.Messages), hello2[:20]...)},
		{"BeforeTheAnswer", append(preface(transport.Messages), hello2...)},
		{"InsideTheAnswer", append(append(preface(transport.Messages), hello2...), answer[:9]...)},
	} {
		t.Run(c.statement, func(t *testing.T) {
			cfg := plain(1)
			cfg.Handshake = 100 * time.Millisecond
			cfg.Refusals = func(refused *transport.RefusedError) { t.Errorf("who is only slow is not refused: %v", refused) }
			in := make(inbox, 1)
			network := newTCP(t, cfg)
			addr := serve(t, network, "127.0.0.1", in)
			s := call(t, addr)
			s.say(c.says)
			s.hearEnd()
			require.Empty(t, in)
		})
	}
}

func TestASilentCrowdDoesNotKeepNodesOut(t *testing.T) {
	for _, c := range []struct {
		statement string
		says      []byte
	}{
		{"WhoSaysNothing", nil},
		{"WhoStopsBeforeItsAnswer", append(preface(transport.Messages), helloFrame(hello(2))...)},
	} {
		t.Run(c.statement, func(t *testing.T) {
			cfg := plain(1)
			cfg.Handshake = time.Hour // only the newcomers end them
			logger, log := newJournal()
			cfg.Logger = logger
			in := make(inbox, 1)
			network := newTCP(t, cfg)
			addr := serve(t, network, "127.0.0.1", in)
			began := time.Now()
			var crowd []stranger
			for range 2 * transport.LobbyMax {
				s := call(t, addr)
				s.say(c.says)
				crowd = append(crowd, s)
			}
			requireLink(t, network, addr, in, "hello")
			crowd[0].hearEnd()
			said := log.count("transport: too many connections are in their handshake; the oldest of the busiest source is closed")
			require.Positive(t, said)
			require.LessOrEqual(t, said, 1+int(time.Since(began)/transport.PaceLength))
		})
	}
}

func TestWhatAReceiverSaysBreaksTheLink(t *testing.T) {
	link, s := dialByHand(t, plain(1))
	s.say([]byte{0})
	eventually(t, func() bool { return link.Send(nil) != nil }, "the link breaks")
	require.ErrorIs(t, link.Send(nil), transport.ErrBroken)
	require.ErrorContains(t, link.Send(nil), "the peer sent what it must not")
}

func TestALinkNoticesItsEndWithoutSending(t *testing.T) {
	link, s := dialByHand(t, plain(1))
	require.NoError(t, s.Close())
	_, err := s.Read(nil)
	require.ErrorIs(t, err, net.ErrClosed)
	// The end of the connection is told to the link by its own goroutine; the
	// first Send that fails is often the very first.
	eventually(t, func() bool { return link.Send(nil) != nil }, "the link breaks")
	require.ErrorContains(t, link.Send(nil), "the peer ended it")
}
