package transport_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

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
	t       *testing.T
	dialler transport.Network
	asked   chan uint64 // the node that Admit runs in
	release chan struct{}
	told    refusals
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

// await waits for what comes out of a channel.
func await[T any](t *testing.T, c <-chan T, what string) (value T) {
	t.Helper()
	select {
	case value = <-c:
	case <-time.After(waitMax):
		require.FailNow(t, "waited too long for "+what)
	}
	return value
}

// requireAsked waits until Admit of a node is asked.
func (j *judged) requireAsked(node uint64) {
	j.t.Helper()
	require.Equal(j.t, node, await(j.t, j.asked, "Admit"))
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
			j.requireAsked(1)
			j.release <- struct{}{}
			j.requireAsked(2)
			j.release <- struct{}{}
			require.NoError(t, await(t, done, "the dial"))
		})
	}
	t.Run("ABlackHoleSwallowsTheNoOfTheAcceptor", func(t *testing.T) {
		j := newJudged(t, errors.New("no"), nil)
		done := j.dial()
		j.requireAsked(1)
		j.Isolate("a")
		j.release <- struct{}{}
		require.False(t, j.told.next(t).ByPeer, "the acceptor knows its own no")
		j.held(1)
		require.Empty(t, done)
		j.Rejoin("a")
		require.ErrorIs(t, await(t, done, "the dial"), transport.ErrRefused)
		require.Empty(t, j.asked, "it is judged once")
		require.Empty(t, j.told)
	})
	t.Run("ABlackHoleSwallowsTheYesOfTheAcceptor", func(t *testing.T) {
		j := newJudged(t, nil, nil)
		done := j.dial()
		j.requireAsked(1)
		j.BlackHole("a", "b")
		j.release <- struct{}{}
		j.held(1)
		require.Empty(t, j.asked, "the dialler does not know of the yes")
		j.HealAll()
		j.requireAsked(2)
		j.release <- struct{}{}
		require.NoError(t, await(t, done, "the dial"))
	})
	t.Run("ABlackHoleSwallowsTheNoOfTheDialler", func(t *testing.T) {
		j := newJudged(t, nil, errors.New("no"))
		done := j.dial()
		j.requireAsked(1)
		j.release <- struct{}{}
		j.requireAsked(2)
		j.BlackHole("b", "a")
		j.release <- struct{}{}
		j.held(1)
		require.Empty(t, j.told)
		j.HealAll()
		require.ErrorIs(t, await(t, done, "the dial"), transport.ErrRefused)
		require.True(t, j.told.next(t).ByPeer)
	})
	t.Run("ACutEndsTheDialWhileItIsJudged", func(t *testing.T) {
		j := newJudged(t, nil, nil)
		done := j.dial()
		j.requireAsked(1)
		j.Cut("b", "a")
		require.ErrorIs(t, await(t, done, "the dial"), transport.ErrUnreachable)
		require.EqualValues(t, 1, j.Stats("b", "a").DialsRefused)
		j.release <- struct{}{}
	})
	t.Run("CloseEndsTheDialAndWaitsForAdmit", func(t *testing.T) {
		for _, asked := range []uint64{1, 2} {
			j := newJudged(t, nil, nil)
			done := j.dial()
			j.requireAsked(1)
			if asked == 2 {
				j.release <- struct{}{}
				j.requireAsked(2)
			}
			closed := make(chan error, 1)
			go func() { closed <- j.Close() }()
			require.ErrorIs(t, await(t, done, "the dial"), transport.ErrClosed)
			require.Empty(t, closed, "Admit still runs")
			j.release <- struct{}{}
			require.NoError(t, await(t, closed, "Close"))
			require.Empty(t, j.asked)
		}
	})
	t.Run("AListenerThatFollowsDoesNotInheritAJudgement", func(t *testing.T) {
		network := newMemory(t, 1)
		asked, answer := make(chan struct{}, 1), make(chan struct{})
		release := sync.OnceFunc(func() { close(answer) })
		t.Cleanup(release) // also when the test fails, before the network closes
		acceptor := join(t, network, transport.Member{Self: hello(1), Admit: func(transport.Peer) error { return nil }})
		first, err := acceptor.Listen("a", make(inbox))
		require.NoError(t, err)
		dialler := join(t, network, transport.Member{
			Self: hello(2), Admit: func(transport.Peer) error { asked <- struct{}{}; <-answer; return nil },
		})
		done := make(chan error, 1)
		go func() {
			_, err := dialler.Dial(context.Background(), "b", "a", transport.Messages)
			done <- err
		}()
		await(t, asked, "Admit of the dialler")
		network.BlackHole("b", "a") // so that the dial does not see the address empty
		require.NoError(t, first.Close())
		_, err = acceptor.Listen("a", make(inbox))
		require.NoError(t, err)
		release()
		network.Heal("b", "a")
		require.ErrorIs(t, await(t, done, "the dial"), transport.ErrUnreachable)
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
		require.Equal(t, transport.Peer{Address: "b", Accepted: true}, await(t, from, "a frame"))
	})
}

// witness is a handler that hands over who sent.
type witness chan transport.Peer

func (w witness) Receive(from transport.Peer, _ transport.Kind, _ []byte) error {
	w <- from
	return nil
}
