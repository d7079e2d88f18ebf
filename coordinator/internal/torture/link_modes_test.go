package torture

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience bounds each wait of these tests.
const patience = time.Minute

// ends are the two ends of a connection through a link.
type ends struct {
	link      *link
	near, far net.Conn
}

func join(t *testing.T) ends {
	t.Helper()
	target, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, target.Close()) })
	l, err := newLink(1, 2, target.Addr().String())
	require.NoError(t, err)
	t.Cleanup(l.close)
	e := ends{link: l}
	e.near = dial(t, l)
	e.far, err = target.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _ = e.far.Close() })
	require.NoError(t, e.far.SetDeadline(time.Now().Add(patience)))
	return e
}

func dial(t *testing.T, l *link) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", l.address())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	return conn
}

func say(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	_, err := io.WriteString(conn, text)
	require.NoError(t, err)
}

func hear(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	got := make([]byte, len(text))
	_, err := io.ReadFull(conn, got)
	require.NoError(t, err)
	require.Equal(t, text, string(got))
}

// isBroken waits until a connection ends.
func isBroken(t *testing.T, conn net.Conn) {
	t.Helper()
	_, err := conn.Read(make([]byte, 1))
	require.Error(t, err)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
}

// counted waits until a link has counted something.
func counted(t *testing.T, l *link, what func(linkCounts) int) {
	t.Helper()
	require.Eventually(t, func() bool { return what(l.counted()) > 0 }, patience, time.Millisecond)
}

func TestALinkPasses(t *testing.T) {
	e := join(t)
	say(t, e.near, "there")
	hear(t, e.far, "there")
	say(t, e.far, "back")
	hear(t, e.near, "back")
	require.Zero(t, e.link.counted())
	require.NoError(t, e.near.Close())
	isBroken(t, e.far)
}

func TestALinkStallsOneDirection(t *testing.T) {
	e := join(t)
	e.link.set(mode{kind: stalls}, mode{kind: passes})
	say(t, e.near, "later")
	counted(t, e.link, func(c linkCounts) int { return c.Stalled })
	say(t, e.far, "back")
	hear(t, e.near, "back")
	e.link.heal()
	hear(t, e.far, "later")

	e.link.set(mode{kind: stalls}, mode{kind: stalls})
	require.NoError(t, e.near.Close())
	e.link.heal()
	isBroken(t, e.far)
}

func TestALinkSwallows(t *testing.T) {
	e := join(t)
	e.link.set(mode{kind: swallows}, mode{kind: swallows})
	say(t, e.near, "gone")
	counted(t, e.link, func(c linkCounts) int { return c.Swallowed })
	unheard := dial(t, e.link)
	say(t, unheard, "gone too")
	counted(t, e.link, func(c linkCounts) int { return c.Swallowed - len("gone") })
	e.link.heal()
	isBroken(t, e.far)
	isBroken(t, e.near)
	isBroken(t, unheard)
}

func TestALinkResets(t *testing.T) {
	e := join(t)
	e.link.set(mode{kind: resets}, mode{kind: resets})
	_, err := e.near.Read(make([]byte, 1))
	require.ErrorIs(t, err, syscall.ECONNRESET)
	isBroken(t, e.far)
	conn, err := net.Dial("tcp", e.link.address())
	if err == nil { // the reset may be there before Dial has returned
		isBroken(t, conn)
		require.NoError(t, conn.Close())
	} else {
		require.True(t, errors.Is(err, syscall.ECONNRESET), "%v", err)
	}
	require.GreaterOrEqual(t, e.link.counted().Reset, 2)
}

func TestALinkIsSlow(t *testing.T) {
	e := join(t)
	const delay = 50 * time.Millisecond
	e.link.set(mode{kind: isSlow, delay: delay}, mode{kind: passes})
	began := time.Now()
	say(t, e.near, "slowly")
	hear(t, e.far, "slowly")
	require.GreaterOrEqual(t, time.Since(began), delay)
	require.Equal(t, 1, e.link.counted().Slowed)
}
