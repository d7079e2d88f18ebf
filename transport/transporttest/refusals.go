package transporttest

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

// refusalRules are about what both sides learn when one says no.
var refusalRules = []memberRule{
	{"AnotherClusterIsRefusedAndBothSeeWhatItWasBornWith", refusesCluster},
	{"AVersionThatIsTooNewIsRefused", refusesNew},
	{"AVersionThatIsTooOldIsRefused", refusesOld},
	{"TheAcceptorsNoReachesBothSides", acceptorRefuses},
	{"TheDiallersNoReachesBothSides", diallerRefuses},
	{"TheClusterIsJudgedFirstAndAdmitLast", judgedInOrder},
	{"AdmitChoosesCodeAndReason", choosesCode},
	{"AdmitCanTakeNoCodeOfTheNetworks", takesNoCode},
	{"TheOtherSideGetsAReasonThatFitsALog", reasonFits},
}

// requireNoByAcceptor checks both sides of a refusal by the acceptor.
func requireNoByAcceptor(t *testing.T, m *meeting, acceptor, dialler *party, code transport.Code, reason string) {
	t.Helper()
	here, there := m.refused(t, acceptor)
	require.True(t, here.ByPeer)
	require.Equal(t, code, here.Code)
	require.Equal(t, reason, here.Reason)
	require.NoError(t, here.Err)
	requirePeer(t, transport.Peer{Hello: acceptor.Self, Address: m.to}, here.Peer)

	require.False(t, there.ByPeer)
	require.Equal(t, code, there.Code)
	require.Equal(t, reason, there.Reason)
	require.Error(t, there.Err)
	require.Equal(t, dialler.Self, there.Peer.Hello)
	require.Equal(t, m.from, there.Peer.Address)
	require.True(t, there.Peer.Accepted)

	require.Empty(t, dialler.asked, "the dialler judges after a yes alone")
	require.Empty(t, dialler.told, "its refusals come from Dial")
	require.Empty(t, acceptor.told, "each is told once")
}

func refusesCluster(t *testing.T, s society) {
	acceptor, dialler := newParty(1), newParty(2)
	acceptor.Self.Born, dialler.Self.Born = "three groups", "eight groups\x00\xff"
	dialler.Self.Cluster[0]++
	m := s.meet(t, acceptor, dialler)
	requireNoByAcceptor(t, m, acceptor, dialler, transport.CodeCluster,
		"node 2 is of the cluster with hash 0202030000000000, node 1 of that with hash 0102030000000000")
	require.Empty(t, acceptor.asked)
	here, there := m.refused(t, acceptor)
	require.Equal(t, "three groups", here.Peer.Born)
	require.Equal(t, "eight groups\x00\xff", there.Peer.Born)
}

func refusesNew(t *testing.T, s society) {
	acceptor, dialler := newParty(1), newParty(2)
	dialler.Self.Protocol = transport.Versions{Lowest: 2, Highest: 4}
	requireNoByAcceptor(t, s.meet(t, acceptor, dialler), acceptor, dialler, transport.CodeProtocol,
		"node 2 speaks protocol versions 2 to 4, node 1 speaks 1 to 1")
	require.Empty(t, acceptor.asked)
}

func refusesOld(t *testing.T, s society) {
	acceptor, dialler := newParty(1), newParty(2)
	acceptor.Self.Protocol = transport.Versions{Lowest: 2, Highest: 4}
	requireNoByAcceptor(t, s.meet(t, acceptor, dialler), acceptor, dialler, transport.CodeProtocol,
		"node 2 speaks protocol versions 1 to 1, node 1 speaks 2 to 4")
	require.Empty(t, acceptor.asked)
}

func acceptorRefuses(t *testing.T, s society) {
	acceptor, dialler := newParty(1), newParty(2)
	cause := errors.New("node 2 came back empty")
	acceptor.answer = func(transport.Peer) error { return cause }
	m := s.meet(t, acceptor, dialler)
	requireNoByAcceptor(t, m, acceptor, dialler, transport.CodeAdmit, cause.Error())
	_, there := m.refused(t, acceptor)
	require.ErrorIs(t, there, cause)
	require.Equal(t, uint16(1), there.Peer.Version)
}

func diallerRefuses(t *testing.T, s society) {
	acceptor, dialler := newParty(1), newParty(2)
	cause := errors.New("node 1 is a copy")
	dialler.answer = func(transport.Peer) error { return cause }
	m := s.meet(t, acceptor, dialler)
	here, there := m.refused(t, acceptor)
	require.False(t, here.ByPeer)
	require.Equal(t, transport.CodeAdmit, here.Code)
	require.Equal(t, cause.Error(), here.Reason)
	require.ErrorIs(t, here, cause)
	requirePeer(t, transport.Peer{Hello: acceptor.Self, Address: m.to, Version: 1}, here.Peer)

	require.True(t, there.ByPeer)
	require.Equal(t, transport.CodeAdmit, there.Code)
	require.Equal(t, cause.Error(), there.Reason)
	require.NoError(t, there.Err)
	requirePeer(t, transport.Peer{Hello: dialler.Self, Address: m.from, Accepted: true, Version: 1}, there.Peer)
	require.Empty(t, dialler.told)
	require.Empty(t, m.in)
}

func judgedInOrder(t *testing.T, s society) {
	no := func(transport.Peer) error { return errors.New("no") }
	acceptor, dialler := newParty(1), newParty(2)
	acceptor.answer, dialler.answer = no, no
	dialler.Self.Cluster[0]++
	dialler.Self.Protocol = transport.Versions{Lowest: 2, Highest: 4}
	here, _ := s.meet(t, acceptor, dialler).refused(t, acceptor)
	require.Equal(t, transport.CodeCluster, here.Code)
	dialler.Self.Cluster = acceptor.Self.Cluster
	here, _ = s.meet(t, acceptor, dialler).refused(t, acceptor)
	require.Equal(t, transport.CodeProtocol, here.Code)
	require.Empty(t, acceptor.asked)
	dialler.Self.Protocol = acceptor.Self.Protocol
	here, _ = s.meet(t, acceptor, dialler).refused(t, acceptor)
	require.Equal(t, transport.CodeAdmit, here.Code)
	require.True(t, here.ByPeer, "the acceptor says its no first")
	require.Empty(t, dialler.asked)
}

func choosesCode(t *testing.T, s society) {
	acceptor, dialler := newParty(1), newParty(2)
	acceptor.answer = func(transport.Peer) error { return &transport.RefusedError{Code: 300, Reason: "chosen"} }
	requireNoByAcceptor(t, s.meet(t, acceptor, dialler), acceptor, dialler, 300, "chosen")
}

func takesNoCode(t *testing.T, s society) {
	acceptor, dialler := newParty(1), newParty(2)
	acceptor.answer = func(transport.Peer) error {
		return &transport.RefusedError{Code: transport.CodeCluster, Reason: "chosen"}
	}
	requireNoByAcceptor(t, s.meet(t, acceptor, dialler), acceptor, dialler, transport.CodeAdmit, "chosen")
}

func reasonFits(t *testing.T, s society) {
	long := "a\nb\x1b[2J" + strings.Repeat("x", 2*transport.ReasonBytesMax)
	fits := ("a b [2J" + long[len("a\nb\x1b[2J"):])[:transport.ReasonBytesMax]
	no := func(transport.Peer) error { return errors.New(long) }
	acceptor, dialler := newParty(1), newParty(2)
	acceptor.answer = no
	here, there := s.meet(t, acceptor, dialler).refused(t, acceptor)
	require.Equal(t, long, there.Reason)
	require.Equal(t, fits, here.Reason)

	acceptor, dialler = newParty(1), newParty(2)
	dialler.answer = no
	here, there = s.meet(t, acceptor, dialler).refused(t, acceptor)
	require.Equal(t, long, here.Reason)
	require.Equal(t, fits, there.Reason)
}
