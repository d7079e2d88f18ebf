package transport_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
	"github.com/palisade-go/palisade/transport/transporttest"
)

func TestTCPReaches(t *testing.T) {
	for _, c := range []struct{ statement, host, dialled string }{
		{"AnIPv4Address", "127.0.0.1", "127.0.0.1"},
		{"AnIPv6Address", "::1", "::1"},
		{"AName", "localhost", "localhost"},
		{"AllInterfacesByIPv4", "", "127.0.0.1"},
		{"AllInterfacesByIPv6", "", "::1"},
		{"AllInterfacesByAName", "", "localhost"},
	} {
		t.Run(c.statement, func(t *testing.T) {
			if c.dialled == "::1" {
				needIPv6(t)
			}
			in := make(inbox, 1)
			network := newTCP(t, plain(1))
			_, port, err := net.SplitHostPort(serve(t, network, c.host, in))
			require.NoError(t, err)
			requireLink(t, network, net.JoinHostPort(c.dialled, port), in, "hello")
		})
	}
}

// needIPv6 skips a test on a machine without IPv6.
func needIPv6(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skipf("this machine has no IPv6: %v", err)
	}
	require.NoError(t, listener.Close())
}

func TestTCPRefusesBadAddresses(t *testing.T) {
	network := newTCP(t, plain(1))
	for _, addr := range []string{"host", ":7400", "host:", "a:b:7400", "[::1]", strings.Repeat("x", 10) + "]"} {
		_, err := dialTCP(t, network, addr)
		require.ErrorIs(t, err, transport.ErrInvalid, addr)
		require.ErrorContains(t, err, addr)
	}
	for _, addr := range []string{"host", "a:b:7400", "[::1]"} {
		_, err := network.Listen(addr, make(inbox))
		require.ErrorIs(t, err, transport.ErrInvalid, addr)
	}
	for _, from := range []string{strings.Repeat("x", 513), "\xff"} {
		_, err := network.Dial(context.Background(), from, "127.0.0.1:1", transport.Messages)
		require.ErrorIs(t, err, transport.ErrInvalid)
	}
}

// resolver answers for the one name of a test.
type resolver struct {
	name      string
	addresses []string
	err       error
	asked     int
}

func (r *resolver) resolve(_ context.Context, host string) (found []netip.Addr, err error) {
	r.asked++
	if host != r.name {
		return nil, errors.New("not the name under test: " + host)
	}
	for _, address := range r.addresses {
		found = append(found, netip.MustParseAddr(address))
	}
	return found, r.err
}

// manyLoopbacks skips a test where only 127.0.0.1 is this machine.
func manyLoopbacks(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has all of 127.0.0.0/8 for itself, and the test needs several addresses with one port")
	}
}

func TestADialLooksItsNameUpEachTime(t *testing.T) {
	manyLoopbacks(t)
	network := newTCP(t, plain(1))
	in := make(inbox, 1)
	addr := serve(t, network, "127.0.0.1", in)
	_, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	names := &resolver{name: "node", addresses: []string{"127.0.0.2"}}
	network.SetResolve(names.resolve)
	_, err = dialTCP(t, network, "node:"+port)
	require.ErrorIs(t, err, transport.ErrUnreachable, "nobody listens there")
	names.addresses = []string{"127.0.0.1"}
	requireLink(t, network, "node:"+port, in, "moved")
	names.addresses = []string{"::ffff:127.0.0.1"}
	requireLink(t, network, "node:"+port, in, "in the form of IPv6")
	require.Equal(t, 3, names.asked)

	names.err = errors.New("no such name")
	_, err = dialTCP(t, network, "node:"+port)
	require.ErrorIs(t, err, transport.ErrUnreachable)
	require.ErrorContains(t, err, "no such name")
	names.addresses, names.err = nil, nil
	_, err = dialTCP(t, network, "node:"+port)
	require.ErrorContains(t, err, `the name "node" has no address`)
}

func TestADialTriesAllAddresses(t *testing.T) {
	manyLoopbacks(t)
	// At 127.0.0.1 is the node, at .2 a node that refuses, at .3 nobody, and
	// at .4 somebody who never answers.
	cfg := plain(1)
	cfg.Handshake = time.Hour // what is slow must not be waited for
	network := newTCP(t, cfg)
	in := make(inbox, 1)
	_, port, err := net.SplitHostPort(serve(t, network, "127.0.0.1", in))
	require.NoError(t, err)
	refusing := plain(2)
	refusing.Admit = func(transport.Peer) error { return errors.New("not me") }
	listener, err := newTCP(t, refusing).Listen("127.0.0.2:"+port, make(inbox))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	silent, err := net.Listen("tcp", "127.0.0.4:"+port)
	require.NoError(t, err)
	defer silent.Close()

	for _, addresses := range [][]string{
		{"127.0.0.3", "127.0.0.2", "127.0.0.1"},
		{"127.0.0.4", "127.0.0.1"},
		{"127.0.0.4", "127.0.0.3", "127.0.0.2", "127.0.0.1"},
		{"127.0.0.1", "127.0.0.4"},
	} {
		network.SetResolve((&resolver{name: "node", addresses: addresses}).resolve)
		requireLink(t, network, "node:"+port, in, strings.Join(addresses, " "))
	}

	network.SetResolve((&resolver{name: "node", addresses: []string{"127.0.0.3", "127.0.0.2"}}).resolve)
	_, err = dialTCP(t, network, "node:"+port)
	require.ErrorIs(t, err, transport.ErrRefused, "a refusal tells more than a way that is not there")
	network.SetResolve((&resolver{name: "node", addresses: []string{"127.0.0.3", "127.0.0.5"}}).resolve)
	_, err = dialTCP(t, network, "node:"+port)
	require.ErrorIs(t, err, transport.ErrUnreachable)
	require.ErrorContains(t, err, "127.0.0.3:"+port)
	require.ErrorContains(t, err, "127.0.0.5:"+port)
}

func TestADialEnds(t *testing.T) {
	// The kernel takes the connection, and nobody reads what comes.
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { silent.Close() })
	forms := map[string]func(t *testing.T) transport.TCPConfig{
		"Insecure": func(*testing.T) transport.TCPConfig { return plain(1) },
		"TLS":      func(t *testing.T) transport.TCPConfig { return secure(t, transporttest.NewAuthority(t), 1) },
	}
	for name, form := range forms {
		t.Run("WhenAPeerIsSilentForTheTimeOfAHandshake"+name, func(t *testing.T) {
			cfg := form(t)
			cfg.Handshake = 50 * time.Millisecond
			_, err := newTCP(t, cfg).Dial(context.Background(), "a:1", silent.Addr().String(), transport.Messages)
			require.ErrorIs(t, err, transport.ErrUnreachable)
			require.ErrorContains(t, err, "no answer in time")
		})
		t.Run("WithItsContext"+name, func(t *testing.T) {
			cfg := form(t)
			cfg.Handshake = time.Hour
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			defer cancel()
			_, err := newTCP(t, cfg).Dial(ctx, "a:1", silent.Addr().String(), transport.Messages)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.NotErrorIs(t, err, transport.ErrUnreachable)
		})
		t.Run("WithItsNetwork"+name, func(t *testing.T) {
			cfg := form(t)
			cfg.Handshake = time.Hour
			network := newTCP(t, cfg)
			begun, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer begun.Close()
			dialled := make(chan error, 1)
			go func() {
				_, err := network.Dial(context.Background(), "a:1", begun.Addr().String(), transport.Messages)
				dialled <- err
			}()
			conn, err := begun.Accept()
			require.NoError(t, err)
			defer conn.Close()
			require.NoError(t, network.Close())
			require.ErrorIs(t, <-dialled, transport.ErrClosed)
		})
	}
	t.Run("WithItsContextWhileANameIsLookedUp", func(t *testing.T) {
		network := newTCP(t, plain(1))
		ctx, cancel := context.WithCancel(context.Background())
		network.SetResolve(func(ctx context.Context, _ string) ([]netip.Addr, error) {
			cancel()
			<-ctx.Done()
			return nil, ctx.Err()
		})
		_, err := network.Dial(ctx, "a:1", "node:7400", transport.Messages)
		require.ErrorIs(t, err, context.Canceled)
	})
}

func TestWhatIsNoNodeIsUnreachableOrRefused(t *testing.T) {
	for _, c := range []struct {
		statement string
		says      []byte
		want      error
		text      string
	}{
		{"WhoHangsUp", nil, transport.ErrUnreachable, "EOF"},
		{"AWebServer", []byte("HTTP/1.1 400 Bad Request\r\n\r\n"), transport.ErrRefused, "not a frame: its length is 1213486160 bytes"},
		{"AFrameThatIsEmpty", transport.AppendFrame(nil, nil), transport.ErrRefused, "an empty message in the handshake"},
		{"AFrameThatIsNoHello", transport.AppendFrame(nil, []byte("hello")), transport.ErrRefused, "not a hello"},
		{"AYesWithoutAHello", yes(), transport.ErrRefused, "it said yes without a hello"},
		{"TwoHellos", append(helloFrame(hello(2)), helloFrame(hello(2))...), transport.ErrRefused, "not an answer"},
	} {
		t.Run(c.statement, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer listener.Close()
			go func() {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				s := newStranger(t, conn)
				s.say(c.says)
				if len(c.says) == 0 {
					s.Conn.(*net.TCPConn).CloseWrite()
				}
				s.hearEnd()
				s.Close()
			}()
			_, err = dialTCP(t, newTCP(t, plain(1)), listener.Addr().String())
			require.ErrorIs(t, err, c.want)
			require.ErrorContains(t, err, c.text)
		})
	}
}
