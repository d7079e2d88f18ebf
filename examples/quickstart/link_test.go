package main

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// echo answers every byte with the same byte, until the test ends.
func echo(t *testing.T) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			pump(conn, conn)
		}
	}()
	t.Cleanup(func() {
		require.NoError(t, listener.Close())
		<-stopped
	})
	return listener.Addr().String()
}

func newLink(t *testing.T) *link {
	t.Helper()
	l, err := openLink()
	require.NoError(t, err)
	t.Cleanup(l.close)
	return l
}

func dial(t *testing.T, l *link) net.Conn {
	t.Helper()
	conn, err := net.DialTimeout("tcp", l.address(), patience)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	return conn
}

// ask sends a byte and returns the answer.
func ask(conn net.Conn, b byte) (byte, error) {
	if _, err := conn.Write([]byte{b}); err != nil {
		return 0, err
	}
	var answer [1]byte
	_, err := io.ReadFull(conn, answer[:])
	return answer[0], err
}

func TestLink(t *testing.T) {
	t.Run("CarriesBothWays", func(t *testing.T) {
		l := newLink(t)
		l.lead(echo(t))
		answer, err := ask(dial(t, l), 'x')
		require.NoError(t, err)
		require.Equal(t, byte('x'), answer)
	})
	t.Run("ACutBreaksWhatIsOpenAndWhatIsNew", func(t *testing.T) {
		l := newLink(t)
		l.lead(echo(t))
		open := dial(t, l)
		_, err := ask(open, 'x')
		require.NoError(t, err)
		require.Equal(t, 1, l.cut())
		_, err = ask(open, 'x')
		require.Error(t, err)
		require.False(t, isTimeout(err), "%v", err)
		_, err = ask(dial(t, l), 'x')
		require.Error(t, err)
		require.False(t, isTimeout(err), "%v", err)
	})
	t.Run("AMendedLinkCarriesAgain", func(t *testing.T) {
		l := newLink(t)
		l.lead(echo(t))
		require.Zero(t, l.cut())
		l.mend()
		_, err := ask(dial(t, l), 'x')
		require.NoError(t, err)
	})
	t.Run("NewConnectionsGoToTheNewTarget", func(t *testing.T) {
		l := newLink(t)
		gone, err := freeAddress()
		require.NoError(t, err)
		l.lead(gone)
		_, err = ask(dial(t, l), 'x')
		require.Error(t, err)
		l.lead(echo(t))
		_, err = ask(dial(t, l), 'x')
		require.NoError(t, err)
	})
	t.Run("TheEndOfOneEndReachesTheOther", func(t *testing.T) {
		l := newLink(t)
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer listener.Close()
		l.lead(listener.Addr().String())
		near := dial(t, l)
		far, err := listener.Accept()
		require.NoError(t, err)
		defer far.Close()
		require.NoError(t, far.SetDeadline(time.Now().Add(patience)))
		_, err = near.Write([]byte("farewell"))
		require.NoError(t, err)
		require.NoError(t, near.Close())
		text, err := io.ReadAll(far)
		require.NoError(t, err)
		require.Equal(t, "farewell", string(text))
	})
}

func isTimeout(err error) bool {
	timeout, ok := err.(net.Error)
	return ok && timeout.Timeout()
}
