package transport_test

import (
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
	"github.com/palisade-go/palisade/transport/transporttest"
)

func TestTCPKeepsTheRulesOfANetwork(t *testing.T) {
	transporttest.Run(t, func(t *testing.T) (transport.Network, func() string) {
		return newTCP(t, plain(1)), func() string { return freeAddress(t) }
	})
}

func TestTCPWithTLSKeepsTheRulesOfANetwork(t *testing.T) {
	authority := transporttest.NewAuthority(t)
	transporttest.Run(t, func(t *testing.T) (transport.Network, func() string) {
		return newTCP(t, secure(t, authority, 1)), func() string { return freeAddress(t) }
	})
}

func TestTCPKeepsTheRulesOfMembers(t *testing.T) {
	transporttest.RunMembers(t, func(t *testing.T) (func(transport.Member) transport.Network, func() string) {
		return func(member transport.Member) transport.Network {
			return newTCP(t, transport.TCPConfig{Member: member, TLS: transport.Insecure, Handshake: waitMax})
		}, func() string { return freeAddress(t) }
	})
}

func TestTCPWithTLSKeepsTheRulesOfMembers(t *testing.T) {
	authority := transporttest.NewAuthority(t)
	transporttest.RunMembers(t, func(t *testing.T) (func(transport.Member) transport.Network, func() string) {
		return func(member transport.Member) transport.Network {
			cfg := secure(t, authority, member.Self.Node)
			cfg.Member, cfg.Handshake = member, waitMax
			return newTCP(t, cfg)
		}, func() string { return freeAddress(t) }
	})
}

// hello is what a node of the tests says of itself.
func hello(node uint64) transport.Hello {
	return transporttest.Hello(node)
}

// plain configures a node of an Insecure network.
func plain(node uint64) transport.TCPConfig {
	return transport.TCPConfig{Member: transport.Member{Self: hello(node)}, TLS: transport.Insecure}
}

// secure configures a node of the cluster billing.
func secure(t *testing.T, authority *transporttest.Authority, node uint64) transport.TCPConfig {
	t.Helper()
	return transport.TCPConfig{
		Member: transport.Member{Self: hello(node)}, ClusterName: "billing",
		TLS: authority.Certify(t, t.TempDir(), transporttest.Holder{Cluster: "billing", Node: node}),
	}
}

// newTCP makes a network that is closed when t ends.
func newTCP(t *testing.T, cfg transport.TCPConfig) *transport.TCP {
	t.Helper()
	network, err := transport.NewTCP(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, network.Close()) })
	return network
}

// serve listens at a port that the system chooses, until t ends.
func serve(t *testing.T, network *transport.TCP, host string, h transport.Handler) (addr string) {
	t.Helper()
	listener, err := network.Listen(net.JoinHostPort(host, "0"), h)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	return listener.(interface{ Addr() net.Addr }).Addr().String()
}

// dialTCP opens a link for messages, or returns why there is none.
func dialTCP(t *testing.T, network *transport.TCP, to string) (transport.Link, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitMax)
	defer cancel()
	link, err := network.Dial(ctx, "me:1", to, transport.Messages)
	if err != nil {
		require.Nil(t, link)
		return nil, err
	}
	t.Cleanup(func() { require.NoError(t, link.Close()) })
	return link, nil
}

// requireLink opens a link and sends something over it.
func requireLink(t *testing.T, network *transport.TCP, to string, in inbox, text string) transport.Link {
	t.Helper()
	link, err := dialTCP(t, network, to)
	require.NoError(t, err)
	send(t, link, text)
	require.Equal(t, text, in.next(t))
	return link
}

var addresses atomic.Uint32

// freeAddress returns an address that nobody has. On Linux all of 127.0.0.0/8
// is this machine, so every process of a test run has addresses of its own;
// elsewhere it is a port that was free just now.
func freeAddress(t *testing.T) string {
	t.Helper()
	host := "127.0.0.1"
	if runtime.GOOS == "linux" {
		ip := binary.BigEndian.AppendUint32(nil, 127<<24|1<<23|uint32(os.Getpid())<<8&0x7fff00|addresses.Add(1)%250+1)
		host = net.IP(ip).String()
	}
	listener, err := net.Listen("tcp", host+":0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().String()
}

// journal is the handler of a logger that keeps the messages.
type journal struct {
	mu   sync.Mutex
	from slog.Level
	kept []string
}

func (j *journal) Enabled(_ context.Context, level slog.Level) bool { return level >= j.from }
func (j *journal) WithAttrs([]slog.Attr) slog.Handler               { return j }
func (j *journal) WithGroup(string) slog.Handler                    { return j }
func (j *journal) Handle(_ context.Context, record slog.Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.kept = append(j.kept, record.Message)
	return nil
}

// count returns how often a message was logged.
func (j *journal) count(message string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.kept) - len(slices.DeleteFunc(slices.Clone(j.kept), func(kept string) bool { return kept == message }))
}

// newJournal makes a logger whose warnings are kept.
func newJournal() (*slog.Logger, *journal) {
	j := &journal{from: slog.LevelWarn}
	return slog.New(j), j
}

// refusals collects what the accepting side is told.
type refusals chan *transport.RefusedError

func (r refusals) hook(refused *transport.RefusedError) { r <- refused }

func (r refusals) next(t *testing.T) *transport.RefusedError {
	t.Helper()
	select {
	case refused := <-r:
		return refused
	case <-time.After(waitMax):
		require.FailNow(t, "no refusal was told")
		return nil
	}
}

// stranger is a connection that speaks the wire form by hand.
type stranger struct {
	net.Conn
	t *testing.T
}

// call connects to a listener of an Insecure network.
func call(t *testing.T, addr string) stranger {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, waitMax)
	require.NoError(t, err)
	return newStranger(t, conn)
}

func newStranger(t *testing.T, conn net.Conn) stranger {
	t.Helper()
	require.NoError(t, conn.SetDeadline(time.Now().Add(waitMax)))
	t.Cleanup(func() { conn.Close() })
	return stranger{conn, t}
}

// say sends bytes as they are.
func (s stranger) say(wire ...[]byte) {
	s.t.Helper()
	_, err := s.Write(slices.Concat(wire...))
	require.NoError(s.t, err)
}

// hear reads one frame.
func (s stranger) hear() []byte {
	s.t.Helper()
	var header [8]byte
	_, err := io.ReadFull(s, header[:])
	require.NoError(s.t, err)
	frame := make([]byte, binary.BigEndian.Uint32(header[:4]))
	_, err = io.ReadFull(s, frame)
	require.NoError(s.t, err)
	return frame
}

// hearHello reads the hello of the other side.
func (s stranger) hearHello() transport.Hello {
	s.t.Helper()
	h, _, err := transport.ParseHello(s.hear())
	require.NoError(s.t, err)
	return h
}

// hearAnswer reads the answer of the other side, nil for yes.
func (s stranger) hearAnswer() *transport.RefusedError {
	s.t.Helper()
	refused, err := transport.ParseAnswer(s.hear(), transport.Peer{})
	require.NoError(s.t, err)
	return refused
}

// hearEnd waits until the other side has ended the connection.
func (s stranger) hearEnd() {
	s.t.Helper()
	_, err := io.Copy(io.Discard, s)
	var timeout net.Error
	if err != nil {
		require.ErrorAs(s.t, err, &timeout)
		require.False(s.t, timeout.Timeout(), "the connection stays open")
	}
}

// The messages of a handshake.
func preface(kind transport.Kind) []byte { return append([]byte("palisade"), byte(kind)) }
func helloFrame(h transport.Hello) []byte {
	return transport.AppendFrame(nil, transport.AppendHello(nil, h, "stranger:1"))
}
func yes() []byte { return transport.AppendFrame(nil, transport.AppendAnswer(nil, 0, "")) }

// join makes the whole handshake of a dialler.
func (s stranger) join(node uint64) {
	s.t.Helper()
	s.say(preface(transport.Messages), helloFrame(hello(node)))
	s.hearHello()
	require.Nil(s.t, s.hearAnswer())
	s.say(yes())
}
