package transport_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
	"github.com/palisade-go/palisade/transport/transporttest"
)

// refusalCase is a dial from node 2 to node 1 that is refused.
type refusalCase struct {
	statement string
	acceptor  func(cfg *transport.TCPConfig)
	dialler   func(cfg *transport.TCPConfig)
	code      transport.Code
	byDialler bool   // else by the acceptor
	reason    string // as both sides have it
	oneSided  bool   // the acceptor's words don't reach the dialler, as TLS has words of its own
}

// What both networks refuse alike is in transporttest; this is the rest.
func TestARefusalReachesBothSides(t *testing.T) {
	ours, others := transporttest.NewAuthority(t), transporttest.NewAuthority(t)
	papers := func(by *transporttest.Authority, who transporttest.Holder, trusted ...*transporttest.Authority) func(*transport.TCPConfig) {
		return func(cfg *transport.TCPConfig) {
			if who.Cluster == "" {
				who.Cluster = "billing"
			}
			who.Node, cfg.ClusterName = cfg.Self.Node, who.Cluster
			cfg.TLS = by.Certify(t, t.TempDir(), who, trusted...)
		}
	}
	yesterday := transporttest.Holder{NotAfter: time.Now().Add(-time.Hour)}
	insecure := func(cfg *transport.TCPConfig) { cfg.TLS = transport.Insecure }
	no := func(transport.Peer) error { return errors.New("node 2 came back empty") }
	cases := []refusalCase{
		{"OfADiallerOfAnotherAuthority", nil, papers(others, transporttest.Holder{}, ours),
			transport.CodeCertificate, false, "certificate signed by unknown authority", true},
		{"OfAnAcceptorOfAnotherAuthority", papers(others, transporttest.Holder{}, ours), nil,
			transport.CodeCertificate, true, "certificate signed by unknown authority", true},
		{"OfADiallerWhoseCertificateHasExpired", nil, papers(ours, yesterday),
			transport.CodeCertificate, false, "certificate has expired", true},
		{"OfAnAcceptorWhoseCertificateHasExpired", papers(ours, yesterday), nil,
			transport.CodeCertificate, true, "certificate has expired", true},
		{"OfADiallerWhoseCertificateIsForServersOnly", nil,
			papers(ours, transporttest.Holder{Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}),
			transport.CodeCertificate, false, "incompatible key usage", true},
		{"OfAnAcceptorWhoseCertificateIsForClientsOnly",
			papers(ours, transporttest.Holder{Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}), nil,
			transport.CodeCertificate, true, "incompatible key usage", true},
		{"OfADiallerWhoseCertificateIsOfAnotherCluster", nil, papers(ours, transporttest.Holder{Cluster: "shipping"}),
			transport.CodeIdentity, false, "the certificate is that of palisade://shipping/2, it must be palisade://billing/2", false},
		{"OfPlaintextWhereTLSIsRequired", nil, insecure,
			transport.CodeHandshake, false, "plaintext came where TLS is required", false},
		{"OfADiallerThatAdmitDoesNotWant", func(cfg *transport.TCPConfig) { cfg.Admit = no }, nil,
			transport.CodeAdmit, false, "node 2 came back empty", false},
	}
	for _, c := range cases {
		t.Run(c.statement, func(t *testing.T) {
			told := make(refusals, 1)
			logger, log := newJournal()
			acceptor, dialler := secure(t, ours, 1), secure(t, ours, 2)
			acceptor.Refusals, acceptor.Logger = told.hook, logger
			if c.acceptor != nil {
				c.acceptor(&acceptor)
			}
			if c.dialler != nil {
				c.dialler(&dialler)
			}
			addr := serve(t, newTCP(t, acceptor), "127.0.0.1", make(inbox))
			_, err := dialTCP(t, newTCP(t, dialler), addr)

			var refused *transport.RefusedError
			require.ErrorAs(t, err, &refused)
			require.ErrorIs(t, err, transport.ErrRefused)
			require.Equal(t, !c.byDialler, refused.ByPeer, "%v", err)
			require.Equal(t, c.code, refused.Code, "%v", err)
			require.Equal(t, addr, refused.Peer.Address)
			require.False(t, refused.Peer.Accepted)
			there := told.next(t)
			require.Equal(t, c.byDialler, there.ByPeer, "%v", there)
			require.Equal(t, c.code, there.Code, "%v", there)
			require.True(t, there.Peer.Accepted)
			require.NotNil(t, there.Peer.Remote)
			if there.Peer.Node == 0 {
				require.Empty(t, there.Peer.Address, "it is told by the hello")
			} else {
				require.Equal(t, "me:1", there.Peer.Address)
			}

			decider, other := refused, there
			if !c.byDialler {
				decider, other = there, refused
			}
			require.Contains(t, decider.Reason, c.reason)
			require.Error(t, decider.Err)
			require.Nil(t, other.Err)
			if c.oneSided {
				require.Contains(t, other.Reason, "it does not accept this node's certificate")
			} else {
				require.Equal(t, decider.Reason, other.Reason)
			}
			require.Equal(t, 1, log.count("transport: a connection was refused"))
		})
	}
}

func TestAPeerOverTCPHasARemote(t *testing.T) {
	accepted, dialled := make(chan transport.Peer, 1), make(chan transport.Peer, 1)
	acceptor, dialler := plain(1), plain(2)
	acceptor.Admit = func(peer transport.Peer) error { accepted <- peer; return nil }
	dialler.Admit = func(peer transport.Peer) error { dialled <- peer; return nil }
	addr := serve(t, newTCP(t, acceptor), "127.0.0.1", make(inbox))
	link, err := dialTCP(t, newTCP(t, dialler), addr)
	require.NoError(t, err)
	require.Equal(t, transport.RawOf(link).LocalAddr(), (<-accepted).Remote)
	require.Equal(t, addr, (<-dialled).Remote.String())
}

// A right acceptor refuses another cluster before the dialler can, so this one
// is made by hand.
func TestADiallerThatRefusesAClusterSeesWhatItWasBornWith(t *testing.T) {
	other := hello(2)
	other.Cluster[0]++
	other.Born = "eight groups"
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	heard, answered := make(chan transport.Hello, 1), make(chan *transport.RefusedError, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		s := newStranger(t, conn)
		if _, err := io.CopyN(io.Discard, s, int64(len(preface(transport.Messages)))); err != nil {
			t.Error(err)
		}
		heard <- s.hearHello()
		s.say(helloFrame(other), yes())
		answered <- s.hearAnswer()
	}()
	cfg := plain(1)
	cfg.Admit = func(transport.Peer) error { t.Error("Admit was asked"); return nil }
	_, err = dialTCP(t, newTCP(t, cfg), listener.Addr().String())
	var refused *transport.RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, transport.CodeCluster, refused.Code)
	require.False(t, refused.ByPeer)
	require.Equal(t, other, refused.Peer.Hello)
	require.Equal(t, cfg.Self, <-heard)
	require.Equal(t, transport.CodeCluster, (<-answered).Code)
}

// The own files of a TCP have to name its node, so these liars are made by
// hand.
func TestAHelloThatTheCertificateDoesNotBearOutIsRefused(t *testing.T) {
	authority := transporttest.NewAuthority(t)
	for _, c := range []struct {
		statement string
		uris      []string
		reason    string
	}{
		{"ForAnotherNode", []string{"palisade://billing/3"}, "the certificate is that of palisade://billing/3, it must be palisade://billing/2"},
		{"ForTwoNodes", []string{"palisade://billing/2", "palisade://billing/3"}, "the certificate has 2 URI SANs of nodes"},
		{"ForNoNode", []string{"spiffe://billing/2"}, "the certificate has no URI SAN of a node"},
		{"WrittenOtherwise", []string{"palisade://billing/02"}, "the certificate is that of palisade://billing/02"},
		{"WithMoreBehindIt", []string{"palisade://billing/2?x"}, "the certificate is that of palisade://billing/2?x"},
		{"OfAnotherScheme", []string{"Palisade://billing/2", "palisade://billing/3"}, "2 URI SANs"},
	} {
		liar := authority.Certify(t, t.TempDir(), transporttest.Holder{URIs: c.uris})
		pair, err := tls.LoadX509KeyPair(liar.CertFile, liar.KeyFile)
		require.NoError(t, err)
		papers := &tls.Config{
			Certificates: []tls.Certificate{pair}, InsecureSkipVerify: true, ClientAuth: tls.RequireAnyClientCert,
			NextProtos: []string{"palisade-messages/1"},
		}
		t.Run(c.statement+"ByTheAcceptor", func(t *testing.T) {
			told := make(refusals, 1)
			cfg := secure(t, authority, 1)
			cfg.Refusals = told.hook
			cfg.Admit = func(transport.Peer) error { t.Error("Admit was asked"); return nil }
			addr := serve(t, newTCP(t, cfg), "127.0.0.1", make(inbox))
			conn, err := tls.Dial("tcp", addr, papers)
			require.NoError(t, err)
			s := newStranger(t, conn)
			s.say(helloFrame(hello(2)))
			s.hearHello()
			refused := s.hearAnswer()
			require.Equal(t, transport.CodeIdentity, refused.Code)
			require.Contains(t, refused.Reason, c.reason)
			s.hearEnd()
			require.Equal(t, transport.CodeIdentity, told.next(t).Code)
		})
		t.Run(c.statement+"ByTheDialler", func(t *testing.T) {
			listener, err := tls.Listen("tcp", "127.0.0.1:0", papers)
			require.NoError(t, err)
			defer listener.Close()
			answered := make(chan *transport.RefusedError, 1)
			go func() {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				s := newStranger(t, conn)
				s.hear()
				s.say(helloFrame(hello(2)), yes())
				answered <- s.hearAnswer()
			}()
			cfg := secure(t, authority, 1)
			cfg.Admit = func(transport.Peer) error { t.Error("Admit was asked"); return nil }
			_, err = dialTCP(t, newTCP(t, cfg), listener.Addr().String())
			var refused *transport.RefusedError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, transport.CodeIdentity, refused.Code)
			require.False(t, refused.ByPeer)
			require.Contains(t, refused.Reason, c.reason)
			require.Equal(t, transport.CodeIdentity, (<-answered).Code, "the acceptor is told")
		})
	}
}

func TestTLSClientsThatAreNoNodesAreRefused(t *testing.T) {
	authority := transporttest.NewAuthority(t)
	told := make(refusals, 1)
	cfg := secure(t, authority, 1)
	cfg.Refusals = told.hook
	addr := serve(t, newTCP(t, cfg), "127.0.0.1", make(inbox))
	node2 := secure(t, authority, 2).TLS
	pair, err := tls.LoadX509KeyPair(node2.CertFile, node2.KeyFile)
	require.NoError(t, err)
	for _, c := range []struct {
		statement string
		papers    *tls.Config
		code      transport.Code
		reason    string
	}{
		{"WithoutACertificate", &tls.Config{NextProtos: []string{"palisade-messages/1"}},
			transport.CodeCertificate, "didn't provide a certificate"},
		{"WithAnOldVersionOfTLS", &tls.Config{Certificates: []tls.Certificate{pair}, MaxVersion: tls.VersionTLS12},
			transport.CodeHandshake, "unsupported versions"},
		{"WithAnotherProtocol", &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}},
			transport.CodeHandshake, "unsupported application protocols"},
		{"WithoutAProtocol", &tls.Config{Certificates: []tls.Certificate{pair}},
			transport.CodeHandshake, "it names none of the protocols palisade-messages/1 and palisade-chunks/1"},
	} {
		t.Run(c.statement, func(t *testing.T) {
			c.papers.InsecureSkipVerify = true
			raw, err := net.DialTimeout("tcp", addr, waitMax)
			require.NoError(t, err)
			s := newStranger(t, tls.Client(raw, c.papers))
			_, _ = s.Write(helloFrame(hello(2))) // fails when the handshake does
			s.hearEnd()
			refused := told.next(t)
			require.Equal(t, c.code, refused.Code, "%v", refused)
			require.Contains(t, refused.Reason, c.reason)
			require.False(t, refused.ByPeer)
		})
	}
}

func TestATLSServerThatIsNoNodeIsRefused(t *testing.T) {
	authority := transporttest.NewAuthority(t)
	node2 := secure(t, authority, 2).TLS
	pair, err := tls.LoadX509KeyPair(node2.CertFile, node2.KeyFile)
	require.NoError(t, err)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}})
	require.NoError(t, err)
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		s := newStranger(t, conn)
		s.hearEnd()
		s.Close()
	}()
	_, err = dialTCP(t, newTCP(t, secure(t, authority, 1)), listener.Addr().String())
	var refused *transport.RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, transport.CodeHandshake, refused.Code)
	require.Contains(t, refused.Reason, "it does not know palisade-messages/1")
}

func TestTLSToAPlaintextListenerIsRefused(t *testing.T) {
	told := make(refusals, 1)
	cfg := plain(1)
	cfg.Refusals = told.hook
	addr := serve(t, newTCP(t, cfg), "127.0.0.1", make(inbox))
	_, err := dialTCP(t, newTCP(t, secure(t, transporttest.NewAuthority(t), 2)), addr)
	var refused *transport.RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, transport.CodeHandshake, refused.Code)
	require.Contains(t, refused.Reason, "what came is not TLS")
	require.Contains(t, told.next(t).Reason, "TLS came where plaintext is spoken")
}

func TestAStrangerIsToldByAListener(t *testing.T) {
	begin := func(wire ...[]byte) []byte {
		return slices.Concat(append([][]byte{preface(transport.Messages)}, wire...)...)
	}
	for _, c := range []struct {
		statement string
		says      []byte
		hello     bool // the listener says hello and yes before it is said
		reason    string
	}{
		{"WithoutAPreface", []byte("GET / HTTP/1.1\r\n\r\n"), false, "what came is not the preface of a node"},
		{"WithAnUnknownKind", preface(9), false, "no such kind of link: kind 9"},
		{"WithAHugeLength", begin(bytes.Repeat([]byte{0xff}, 8)), false, "not a frame: its length is 4294967295 bytes, at most 4096"},
		{"WithALengthThatOnlyAFrameMayHave", begin(transport.AppendFrame(nil, make([]byte, 4097))), false, "its length is 4097 bytes"},
		{"WithAWrongChecksum", begin([]byte{0, 0, 0, 0, 1, 2, 3, 4}), false, "not a frame: its checksum is 01020304"},
		{"WithAnEmptyMessage", begin(transport.AppendFrame(nil, nil)), false, "an empty message in the handshake"},
		{"WithoutAHello", begin(yes()), false, "not a hello"},
		{"WithoutAnAddress", begin(transport.AppendFrame(nil, transport.AppendHello(nil, hello(2), ""))), false, "its hello has no address"},
		{"WithoutAnAnswer", begin(helloFrame(hello(2)), helloFrame(hello(2))), true, "not an answer"},
		{"WithAFrameBeforeItsAnswer", begin(helloFrame(hello(2)), transport.AppendFrame(nil, []byte("frame"))), true, "not an answer"},
	} {
		t.Run(c.statement, func(t *testing.T) {
			told := make(refusals, 1)
			cfg := plain(1)
			cfg.Refusals = told.hook
			in := make(inbox, 1)
			s := call(t, serve(t, newTCP(t, cfg), "127.0.0.1", in))
			s.say(c.says)
			if c.hello {
				s.hearHello()
				require.Nil(t, s.hearAnswer())
			}
			refused := s.hearAnswer()
			require.Equal(t, transport.CodeHandshake, refused.Code)
			require.Contains(t, refused.Reason, c.reason)
			s.hearEnd()
			require.Equal(t, refused.Reason, told.next(t).Reason)
			require.Empty(t, in)
		})
	}
}
