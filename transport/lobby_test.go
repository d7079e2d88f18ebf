package transport_test

import (
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

// caller is a connection from an address, which only knows whether it was
// closed.
type caller struct {
	net.Conn
	from   string
	closed bool
}

func (c *caller) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(c.from), 1))
}

func (c *caller) Close() error { c.closed = true; return nil }

// crowd lets n callers from an address enter.
func crowd(l *transport.Lobby, from string, n int) (crowd []*caller) {
	for range n {
		c := &caller{from: from}
		l.Enter(c)
		crowd = append(crowd, c)
	}
	return crowd
}

func closedOf(crowd []*caller) (n int) {
	for _, c := range crowd {
		if c.closed {
			n++
		}
	}
	return n
}

func TestLobby(t *testing.T) {
	require.Equal(t, 128, transport.LobbyMax)
	t.Run("HasRoomForItsMaximum", func(t *testing.T) {
		var lobby transport.Lobby
		require.Zero(t, closedOf(crowd(&lobby, "10.0.0.1", transport.LobbyMax)))
	})
	t.Run("ExpelsTheOldestWhenAllComeFromOneSource", func(t *testing.T) {
		var lobby transport.Lobby
		first := &caller{from: "10.0.0.1"}
		leave := lobby.Enter(first)
		others := crowd(&lobby, "10.0.0.1", transport.LobbyMax-1)
		require.False(t, first.closed)
		crowd(&lobby, "10.0.0.1", 1)
		require.True(t, first.closed)
		require.Zero(t, closedOf(others))
		require.False(t, leave(), "it is told that it lost its place")
		crowd(&lobby, "10.0.0.1", 1)
		require.True(t, others[0].closed)
		require.Equal(t, 1, closedOf(others))
	})
	t.Run("ExpelsFromTheBusiestSource", func(t *testing.T) {
		var lobby transport.Lobby
		honest := crowd(&lobby, "10.0.0.2", 3)
		flood := crowd(&lobby, "10.0.0.1", 10*transport.LobbyMax)
		late := crowd(&lobby, "10.0.0.3", 3)
		require.Zero(t, closedOf(honest))
		require.Zero(t, closedOf(late))
		require.Equal(t, 10*transport.LobbyMax-(transport.LobbyMax-6), closedOf(flood))
	})
	t.Run("TakesAnIPv6NetworkForOneSource", func(t *testing.T) {
		var lobby transport.Lobby
		honest := crowd(&lobby, "2001:db8:0:2::1", 2)
		other := crowd(&lobby, "10.0.0.1", 2)
		var flood []*caller
		for i := range 2 * transport.LobbyMax {
			from := netip.MustParseAddr("2001:db8:0:1::").As16()
			from[15], from[14] = byte(i), byte(i>>8)
			flood = append(flood, crowd(&lobby, netip.AddrFrom16(from).String(), 1)...)
		}
		require.Zero(t, closedOf(honest))
		require.Zero(t, closedOf(other))
		require.Equal(t, transport.LobbyMax+4, closedOf(flood))
	})
	t.Run("HasRoomAgainWhenOneLeaves", func(t *testing.T) {
		var lobby transport.Lobby
		inside := crowd(&lobby, "10.0.0.1", transport.LobbyMax-1)
		leave := lobby.Enter(&caller{from: "10.0.0.1"})
		require.True(t, leave())
		crowd(&lobby, "10.0.0.1", 1)
		require.Zero(t, closedOf(inside))
	})
	t.Run("ClosedExpelsAllAndTakesNobody", func(t *testing.T) {
		var lobby transport.Lobby
		inside := crowd(&lobby, "10.0.0.1", 3)
		lobby.Close()
		require.Equal(t, 3, closedOf(inside))
		require.Equal(t, 1, closedOf(crowd(&lobby, "10.0.0.1", 1)))
	})
}
