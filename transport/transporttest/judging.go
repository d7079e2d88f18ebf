package transporttest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

// judgingRules are about who judges whom, and when.
var judgingRules = []memberRule{
	{"EachSideSeesTheHelloOfTheOther", seesHello},
	{"ReceiveGetsThePeerThatAdmitSaw", receivesPeer},
	{"MembersAreJudgedForEachLink", eachLink},
	{"TheDiallerJudgesWhenTheAcceptorHasSaidYes", acceptorFirst},
	{"ADialEndsWithItsContextWhileTheAcceptorJudges", contextEndsJudging},
	{"ADialEndsWithItsContextWhileTheDiallerJudges", contextEndsOwnJudging},
	{"AJudgementHoldsUpNobodyElse", othersAreJudged},
	{"AdmitMayUseTheNetwork", admitMayDial},
	{"ClosingAListenerEndsTheDialsThatItJudges", closeEndsJudging},
}

// requirePeer checks a peer, but for Remote, which is the network's own.
func requirePeer(t *testing.T, want, got transport.Peer) {
	t.Helper()
	got.Remote = nil
	require.Equal(t, want, got)
}

func seesHello(t *testing.T, s society) {
	acceptor, dialler := newParty(1), newParty(2)
	acceptor.Self.Protocol, dialler.Self.Protocol = transport.Versions{Lowest: 1, Highest: 5}, transport.Versions{Lowest: 3, Highest: 7}
	m := s.meet(t, acceptor, dialler)
	_, err := m.dial(t, context.Background())
	require.NoError(t, err)
	requirePeer(t, transport.Peer{Hello: dialler.Self, Address: m.from, Accepted: true, Version: 5},
		await(t, acceptor.asked, "Admit of the acceptor"))
	requirePeer(t, transport.Peer{Hello: acceptor.Self, Address: m.to, Version: 5},
		await(t, dialler.asked, "Admit of the dialler"))
	require.Empty(t, acceptor.told)
}

func receivesPeer(t *testing.T, s society) {
	acceptor, dialler := newParty(1), newParty(2)
	m := s.meet(t, acceptor, dialler)
	link, err := m.dial(t, context.Background())
	require.NoError(t, err)
	judged := await(t, acceptor.asked, "Admit of the acceptor")
	for i := range 3 {
		require.NoError(t, link.Send([]byte{byte(i)}))
		got := m.in.next(t)
		require.Equal(t, judged, got.peer)
		require.Equal(t, transport.Chunks, got.kind)
	}
	requirePeer(t, transport.Peer{Hello: dialler.Self, Address: m.from, Accepted: true, Version: 1}, judged)
}

func eachLink(t *testing.T, s society) {
	acceptor, dialler := newParty(1), newParty(2)
	var links atomic.Int32
	acceptor.answer = func(transport.Peer) error {
		if link := links.Add(1); link > 2 {
			return fmt.Errorf("link %d is one too many", link)
		}
		return nil
	}
	m := s.meet(t, acceptor, dialler)
	first, err := m.dial(t, context.Background())
	require.NoError(t, err)
	_, err = m.dial(t, context.Background())
	require.NoError(t, err)
	here, _ := m.refused(t, acceptor)
	require.Equal(t, "link 3 is one too many", here.Reason)
	require.NoError(t, first.Send([]byte("still")))
	require.Equal(t, "still", string(m.in.next(t).frame), "a refusal leaves other links alone")
}

func acceptorFirst(t *testing.T, s society) {
	shut := newGate()
	acceptor, dialler := newParty(1), newParty(2)
	acceptor.answer = func(transport.Peer) error { shut.pass(); return nil }
	m := s.meet(t, acceptor, dialler)
	t.Cleanup(shut.open)
	done := m.dialInBackground(t, deadline(t))
	await(t, shut.entered, "Admit of the acceptor")
	never(t, dialler.asked, "the dialler is asked before the acceptor has said yes")
	require.Empty(t, done, "the dial is done before the acceptor has said yes")
	shut.open()
	await(t, dialler.asked, "Admit of the dialler")
	came := await(t, done, "the dial")
	require.NoError(t, came.err)
	require.NoError(t, came.link.Send([]byte("after")))
	require.Equal(t, "after", string(m.in.next(t).frame))
}

func contextEndsJudging(t *testing.T, s society) {
	shut := newGate()
	acceptor, dialler := newParty(1), newParty(2)
	acceptor.answer = func(transport.Peer) error { shut.pass(); return nil }
	m := s.meet(t, acceptor, dialler)
	t.Cleanup(shut.open)
	endsWithContext(t, m, shut)
	require.Empty(t, dialler.asked)
}

func contextEndsOwnJudging(t *testing.T, s society) {
	shut := newGate()
	acceptor, dialler := newParty(1), newParty(2)
	dialler.answer = func(transport.Peer) error { shut.pass(); return nil }
	m := s.meet(t, acceptor, dialler)
	t.Cleanup(shut.open)
	endsWithContext(t, m, shut)
	require.Len(t, acceptor.asked, 1)
}

// endsWithContext ends the context of a dial while somebody judges it behind a
// gate.
func endsWithContext(t *testing.T, m *meeting, shut *gate) {
	t.Helper()
	ctx, cancel := context.WithCancel(deadline(t))
	done := m.dialInBackground(t, ctx)
	await(t, shut.entered, "Admit")
	cancel()
	require.ErrorIs(t, await(t, done, "the dial").err, context.Canceled)
	shut.open()
}

func othersAreJudged(t *testing.T, s society) {
	shut := newGate()
	acceptor, slow, quick := newParty(1), newParty(2), newParty(3)
	acceptor.answer = func(peer transport.Peer) error {
		if peer.Node == 2 {
			shut.pass()
		}
		return nil
	}
	m := s.meet(t, acceptor, slow)
	t.Cleanup(shut.open)
	done := m.dialInBackground(t, deadline(t))
	await(t, shut.entered, "Admit")
	link := world{Network: s.join(quick.Member)}.dial(t, s.newAddr(), m.to, transport.Messages)
	require.NoError(t, link.Send([]byte("past it")))
	require.Equal(t, "past it", string(m.in.next(t).frame))
	require.Empty(t, done)
	shut.open()
	require.NoError(t, await(t, done, "the dial").err)
}

func admitMayDial(t *testing.T, s society) {
	acceptor, dialler := newParty(1), newParty(2)
	other := s.meet(t, newParty(3), newParty(4))
	ask := func(transport.Peer) error {
		ctx, cancel := context.WithTimeout(context.Background(), waitMax)
		defer cancel()
		link, err := other.dialler.Dial(ctx, other.from, other.to, transport.Messages)
		if err != nil {
			return err
		}
		return link.Close()
	}
	acceptor.answer, dialler.answer = ask, ask
	_, err := s.meet(t, acceptor, dialler).dial(t, context.Background())
	require.NoError(t, err)
}

func closeEndsJudging(t *testing.T, s society) {
	shut := newGate()
	acceptor, dialler := newParty(1), newParty(2)
	acceptor.answer = func(transport.Peer) error { shut.pass(); return nil }
	m := s.meet(t, acceptor, dialler)
	t.Cleanup(shut.open)
	done := m.dialInBackground(t, deadline(t))
	await(t, shut.entered, "Admit")
	closed := inBackground(m.listener.Close)
	require.ErrorIs(t, await(t, done, "the dial").err, transport.ErrUnreachable)
	require.Empty(t, closed, "Close returns while Admit runs")
	shut.open()
	require.NoError(t, await(t, closed, "Close"))
	require.Empty(t, dialler.asked)
}
