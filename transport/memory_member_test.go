package transport_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
	"github.com/palisade-go/palisade/transport/transporttest"
)

// join makes a member of a network.
func join(t *testing.T, network *transport.Memory, member transport.Member) transport.Network {
	t.Helper()
	view, err := network.Join(member)
	require.NoError(t, err)
	return view
}

func TestMemoryKeepsTheRulesOfMembers(t *testing.T) {
	transporttest.RunMembers(t, func(t *testing.T) (func(transport.Member) transport.Network, func() string) {
		network := newMemory(t, 1)
		return func(member transport.Member) transport.Network { return join(t, network, member) }, numberedAddresses()
	})
}

func TestAMemberOfMemoryKeepsTheRulesOfANetwork(t *testing.T) {
	transporttest.Run(t, func(t *testing.T) (transport.Network, func() string) {
		return join(t, newMemory(t, 1), transport.Member{Self: hello(1)}), numberedAddresses()
	})
}

func TestJoinReportsEveryProblem(t *testing.T) {
	self := transport.Hello{Born: strings.Repeat("x", transport.BornBytesMax+1)}
	view, err := newMemory(t, 1).Join(transport.Member{Self: self})
	require.Nil(t, view)
	require.ErrorIs(t, err, transport.ErrInvalid)
	for _, wrong := range []string{
		"Self: Cluster is all zero", "Node is zero", "Directory is all zero", "Incarnation is zero", "Start is all zero",
		"Protocol is 0 to 0", "Born has 2049 bytes, at most 2048 are allowed",
	} {
		require.ErrorContains(t, err, wrong)
	}
}

// judged is a memory in which node 1 listens at a and node 2 dials from b.
type judged struct {
	*transport.Memory
	t                 *testing.T
	dialler           transport.Network
	asked             chan uint64 // the node that Admit runs in
	release           chan struct{}
	told              refusals
	acceptor, dialled error // what Admit of the two answers
}

// newJudged makes it. Each Admit tells that it was asked, and waits to be
// released.
func newJudged(t *testing.T, acceptor, dialler error) *judged {
	t.Helper()
	j := &judged{
		Memory: newMemory(t, 1), t: t, asked: make(chan uint64, 4), release: make(chan struct{}, 4), told: make(refusals, 4),
	}
	admit := func(node uint64, answer error) func(transport.Peer) error {
		return func(transport.Peer) error {
			j.asked <- node
			<-j.release
			return answer
		}
	}
	view := join(t, j.Memory, transport.Member{Self: hello(1), Admit: admit(1, acceptor), Refusals: j.told.hook})
	_, err := view.Listen("a", make(inbox, 4))
	require.NoError(t, err)
	j.dialler = join(t, j.Memory, transport.Member{Self: hello(2), Admit: admit(2, dialler)})
	// A test that fails must not leave its network waiting for Admit.
	t.Cleanup(func() { close(j.release) })
	return j
}

// dial dials in the background.
func (j *judged) dial() <-chan error {
	ctx, cancel := context.WithTimeout(context.Background(), waitMax)
	j.t.Cleanup(cancel)
	done := make(chan error, 1)
	go func() {
		_, err := j.dialler.Dial(ctx, "b", "a", transport.Messages)
		done <- err
	}()
	return done
}

// held waits until so many dials were held up by a black hole.
func (j *judged) held(dials uint64) {
	j.t.Helper()
	eventually(j.t, func() bool { return j.Stats("b", "a").DialsHeld == dials }, "the dial waits")
}

func TestFaultsAndJudgements(t *testing.T) {
	for _, hole := range [][2]string{{"b", "a"}, {"a", "b"}} {
		t.Run("ABlackHoleIsBeforeAnyJudgementFrom"+strings.ToUpper(hole[0]), func(t *testing.T) {
			j := newJudged(t, nil, nil)
			j.BlackHole(hole[0], hole[1])
			done := j.dial()
			j.held(1)
			require.Empty(t, j.asked)
			j.Heal(hole[0], hole[1])
			require.EqualValues(t, 1, <-j.asked)
			j.release <- struct{}{}
			require.EqualValues(t, 2, <-j.asked)
			j.release <- struct{}{}
			require.NoError(t, <-done)
		})
	}
	t.Run("ABlackHoleSwallowsTheNoOfTheAcceptor", func(t *testing.T) {
		j := newJudged(t, errors.New("no"), nil)
		done := j.dial()
		<-j.asked
		j.Isolate("a")
		j.release <- struct{}{}
		require.False(t, j.told.next(t).ByPeer, "the acceptor knows its own no")
		j.held(1)
		require.Empty(t, done)
		j.Rejoin("a")
		require.ErrorIs(t, <-done, transport.ErrRefused)
		require.Empty(t, j.asked, "it is judged once")
		require.Empty(t, j.told)
	})
	t.Run("ABlackHoleSwallowsTheYesOfTheAcceptor", func(t *testing.T) {
		j := newJudged(t, nil, nil)
		done := j.dial()
		<-j.asked
		j.BlackHole("a", "b")
		j.release <- struct{}{}
		j.held(1)
		require.Empty(t, j.asked, "the dialler does not know of the yes")
		j.HealAll()
		require.EqualValues(t, 2, <-j.asked)
		j.release <- struct{}{}
		require.NoError(t, <-done)
	})
	t.Run("ABlackHoleSwallowsTheNoOfTheDialler", func(t *testing.T) {
		j := newJudged(t, nil, errors.New("no"))
		done := j.dial()
		<-j.asked
		j.release <- struct{}{}
		require.EqualValues(t, 2, <-j.asked)
		j.BlackHole("b", "a")
		j.release <- struct{}{}
		j.held(1)
		require.Empty(t, j.told)
		j.HealAll()
		require.ErrorIs(t, <-done, transport.ErrRefused)
		require.True(t, j.told.next(t).ByPeer)
	})
	t.Run("ACutEndsTheDialWhileItIsJudged", func(t *testing.T) {
		j := newJudged(t, nil, nil)
		done := j.dial()
		<-j.asked
		j.Cut("b", "a")
		require.ErrorIs(t, <-done, transport.ErrUnreachable)
		require.EqualValues(t, 1, j.Stats("b", "a").DialsRefused)
		j.release <- struct{}{}
	})
	t.Run("CloseEndsTheDialAndWaitsForAdmit", func(t *testing.T) {
		for asked := range 2 {
			j := newJudged(t, nil, nil)
			done := j.dial()
			<-j.asked
			if asked == 1 { // now it is the dialler's
				j.release <- struct{}{}
				<-j.asked
			}
			closed := make(chan error, 1)
			go func() { closed <- j.Close() }()
			require.ErrorIs(t, <-done, transport.ErrClosed)
			require.Empty(t, closed, "Admit still runs")
			j.release <- struct{}{}
			require.NoError(t, <-closed)
			require.Empty(t, j.asked)
		}
	})
	t.Run("AListenerThatFollowsDoesNotInheritAJudgement", func(t *testing.T) {
		network := newMemory(t, 1)
		asked, release := make(chan struct{}), make(chan struct{})
		acceptor := join(t, network, transport.Member{Self: hello(1), Admit: func(transport.Peer) error { return nil }})
		first, err := acceptor.Listen("a", make(inbox))
		require.NoError(t, err)
		dialler := join(t, network, transport.Member{
			Self: hello(2), Admit: func(transport.Peer) error { asked <- struct{}{}; <-release; return nil },
		})
		done := make(chan error, 1)
		go func() {
			_, err := dialler.Dial(context.Background(), "b", "a", transport.Messages)
			done <- err
		}()
		<-asked
		network.BlackHole("b", "a") // so that the dial does not see the address empty
		require.NoError(t, first.Close())
		_, err = acceptor.Listen("a", make(inbox))
		require.NoError(t, err)
		close(release)
		network.Heal("b", "a")
		require.ErrorIs(t, <-done, transport.ErrUnreachable)
	})
}

// Who never joined says no hello.
func TestMembersAndOthersRefuseEachOther(t *testing.T) {
	t.Run("AsAcceptors", func(t *testing.T) {
		network := newMemory(t, 1)
		told := make(refusals, 1)
		_, err := join(t, network, transport.Member{Self: hello(1), Refusals: told.hook}).Listen("a", make(inbox))
		require.NoError(t, err)
		_, err = network.Dial(context.Background(), "b", "a", transport.Messages)
		require.EqualError(t, err, `transport: refused by node 1 at "a": it says no hello (handshake)`)
		require.EqualError(t, told.next(t), `transport: refused a node at "b": it says no hello (handshake)`)
	})
	t.Run("AsDiallers", func(t *testing.T) {
		network := newMemory(t, 1)
		listen(t, network, "a")
		_, err := join(t, network, transport.Member{Self: hello(2)}).Dial(context.Background(), "b", "a", transport.Messages)
		require.EqualError(t, err, `transport: refused a node at "a": it says no hello (handshake)`)
	})
	t.Run("AndOthersSayNothingOfThemselves", func(t *testing.T) {
		network := newMemory(t, 1)
		from := make(chan transport.Peer, 1)
		_, err := network.Listen("a", witness(from))
		require.NoError(t, err)
		send(t, dial(t, network, "b", "a"), "frame")
		require.Equal(t, transport.Peer{Address: "b", Accepted: true}, <-from)
	})
}

// witness is a handler that hands over who sent.
type witness chan transport.Peer

func (w witness) Receive(from transport.Peer, _ transport.Kind, _ []byte) error {
	w <- from
	return nil
}
