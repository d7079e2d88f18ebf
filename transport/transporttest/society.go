package transporttest

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

// society is a network of members, with the few verbs that the rules about
// them are written in.
type society struct {
	join    func(transport.Member) transport.Network
	newAddr func() string
}

// party is one side of a dial: node 1 accepts, node 2 dials. A rule changes
// Member before it lets them meet.
type party struct {
	transport.Member
	asked  chan transport.Peer          // whom Admit was asked about
	told   chan *transport.RefusedError // what Refusals got
	answer func(transport.Peer) error   // of Admit
}

// newParty returns a node that admits everybody.
func newParty(node uint64) *party {
	p := &party{
		asked: make(chan transport.Peer, 16), told: make(chan *transport.RefusedError, 16),
		answer: func(transport.Peer) error { return nil },
	}
	p.Member = transport.Member{
		Self:     Hello(node),
		Admit:    func(peer transport.Peer) error { p.asked <- peer; return p.answer(peer) },
		Refusals: func(refused *transport.RefusedError) { p.told <- refused },
	}
	return p
}

// meeting is a dialler that knows where an acceptor listens.
type meeting struct {
	dialler  transport.Network
	from, to string
	listener io.Closer
	in       inbox
}

// meet lets the acceptor listen until the test ends, and the dialler join.
func (s society) meet(t *testing.T, acceptor, dialler *party) *meeting {
	t.Helper()
	m := &meeting{dialler: s.join(dialler.Member), from: s.newAddr(), to: s.newAddr(), in: newInbox()}
	m.listener = world{Network: s.join(acceptor.Member)}.listen(t, m.to, m.in)
	return m
}

// dial opens a link that is closed when the test ends, or says why there is
// none.
func (m *meeting) dial(t *testing.T, ctx context.Context) (transport.Link, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, waitMax)
	defer cancel()
	link, err := m.dialler.Dial(ctx, m.from, m.to, transport.Chunks)
	if err != nil {
		require.Nil(t, link)
		return nil, err
	}
	t.Cleanup(func() { require.NoError(t, link.Close()) })
	return link, nil
}

// dialled is what came of a dial.
type dialled struct {
	link transport.Link
	err  error
}

// dialInBackground dials and hands over what came of it.
func (m *meeting) dialInBackground(t *testing.T, ctx context.Context) <-chan dialled {
	done := make(chan dialled, 1)
	go func() {
		link, err := m.dialler.Dial(ctx, m.from, m.to, transport.Chunks)
		if err == nil {
			t.Cleanup(func() { link.Close() })
		}
		done <- dialled{link, err}
	}()
	return done
}

// refused dials and returns the refusal as the dialler and as the acceptor has
// it.
func (m *meeting) refused(t *testing.T, acceptor *party) (here, there *transport.RefusedError) {
	t.Helper()
	link, err := m.dial(t, context.Background())
	require.Nil(t, link)
	require.ErrorIs(t, err, transport.ErrRefused)
	require.NotErrorIs(t, err, transport.ErrUnreachable)
	require.ErrorAs(t, err, &here)
	return here, await(t, acceptor.told, "Refusals of the acceptor")
}

// deadline is a context that ends when a test should have.
func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), waitMax)
	t.Cleanup(cancel)
	return ctx
}
