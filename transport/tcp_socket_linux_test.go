package transport_test

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/palisade-go/palisade/transport"
)

// keptListener hands the accepted connections to the test as well.
type keptListener struct {
	net.Listener
	accepted chan net.Conn
}

func (k keptListener) Accept() (net.Conn, error) {
	conn, err := k.Listener.Accept()
	if err == nil {
		k.accepted <- conn
	}
	return conn, err
}

func option(t *testing.T, conn net.Conn, level, name int) (value int) {
	t.Helper()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(fd uintptr) {
		value, err = unix.GetsockoptInt(int(fd), level, name)
	}))
	require.NoError(t, err)
	return value
}

// A peer that vanished can't be had on one machine without special rights, so
// this looks at what the system was asked for.
func TestTheSystemLooksForPeersThatVanished(t *testing.T) {
	for _, c := range []struct {
		stall                 time.Duration
		idle, interval, count int
	}{
		{0, 5, 1, 5}, // the default, 10 s
		{time.Minute, 30, 1, 30},
		{100 * time.Millisecond, 1, 1, 1},
	} {
		cfg := plain(1)
		cfg.Stall = c.stall
		network := newTCP(t, cfg)
		inner, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		kept := keptListener{inner, make(chan net.Conn, 1)}
		in := make(inbox, 1)
		listener, err := network.ListenOn(kept, inner.Addr().String(), in)
		require.NoError(t, err)
		link := requireLink(t, network, inner.Addr().String(), in, "hello")
		for _, conn := range []net.Conn{<-kept.accepted, transport.RawOf(link)} {
			limit := c.stall
			if limit == 0 {
				limit = transport.DefaultStall
			}
			require.EqualValues(t, limit.Milliseconds(), option(t, conn, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT))
			require.Equal(t, 1, option(t, conn, unix.SOL_SOCKET, unix.SO_KEEPALIVE))
			require.Equal(t, c.idle, option(t, conn, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE))
			require.Equal(t, c.interval, option(t, conn, unix.IPPROTO_TCP, unix.TCP_KEEPINTVL))
			require.Equal(t, c.count, option(t, conn, unix.IPPROTO_TCP, unix.TCP_KEEPCNT))
		}
		require.NoError(t, listener.Close())
	}
}
