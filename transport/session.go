package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"time"
)

// session is one TCP connection, from its handshake to its end.
//
//	dialler                              acceptor
//	   | preface (Insecure) or TLS, kind    |  secure
//	   |----------------------------------->|
//	   | hello                              |  greet
//	   |----------------------------------->|  judges: identity, cluster,
//	   |                      hello, answer |  protocol, links, Admit
//	   |<-----------------------------------|
//	   | answer                             |  judges alike
//	   |----------------------------------->|
//	   | frames                             |
//	   |----------------------------------->|
//
// An answer other than yes is the last that its side sends.
type session struct {
	raw    net.Conn // below TLS; closing it breaks the session at once
	conn   net.Conn // what is read and written
	frames *frameReader
	kind   Kind
	peer   Peer
	from   string            // the dialler's own address
	leaf   *x509.Certificate // of the peer; nil when Insecure
}

// prefaceMagic begins a connection of an Insecure network; the kind follows.
// Part of the wire format.
const prefaceMagic = "palisade"

func newSession(raw net.Conn, peer Peer) *session {
	peer.Remote = raw.RemoteAddr()
	return &session{raw: raw, conn: raw, frames: newFrameReader(raw), peer: peer}
}

// overTLS puts TLS between raw and what is read and written, and makes its
// handshake.
func (s *session) overTLS(ctx context.Context, conn *tls.Conn) error {
	if err := conn.HandshakeContext(ctx); err != nil {
		return err
	}
	s.conn, s.frames = conn, newFrameReader(conn)
	s.leaf = conn.ConnectionState().PeerCertificates[0]
	return nil
}

// secureDialled begins as the dialler: with TLS, or with the preface. files
// are nil when the network is Insecure.
func (s *session) secureDialled(ctx context.Context, files *credentialsSource) error {
	if files == nil {
		_, err := s.conn.Write(append([]byte(prefaceMagic), byte(s.kind)))
		return err
	}
	conn := tls.Client(s.raw, files.get().client(s.kind))
	if err := s.overTLS(ctx, conn); err != nil {
		return s.classify(err)
	}
	if got := conn.ConnectionState().NegotiatedProtocol; got != s.kind.protocol() {
		return s.decline(refuse(s.peer, CodeHandshake, "it does not know %s", s.kind.protocol()))
	}
	return nil
}

// secureAccepted begins as the acceptor and learns the kind.
func (s *session) secureAccepted(ctx context.Context, files *credentialsSource) error {
	if files == nil {
		return s.readPreface()
	}
	conn := tls.Server(s.raw, &tls.Config{
		// Read when a ClientHello is there, so that noise costs no look at
		// the files.
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return files.get().server(), nil },
		MinVersion:         tls.VersionTLS13,
	})
	if err := s.overTLS(ctx, conn); err != nil {
		var plain tls.RecordHeaderError
		if errors.As(err, &plain) && bytes.HasPrefix([]byte(prefaceMagic), plain.RecordHeader[:]) {
			// The other side reads plaintext, so it can be told in plaintext.
			return s.decline(refuse(s.peer, CodeHandshake, "plaintext came where TLS is required"))
		}
		return s.classify(err)
	}
	for _, kind := range []Kind{Messages, Chunks} {
		if conn.ConnectionState().NegotiatedProtocol == kind.protocol() {
			s.kind = kind
			return nil
		}
	}
	return s.decline(refuse(s.peer, CodeHandshake, "it names none of the protocols %s and %s",
		Messages.protocol(), Chunks.protocol()))
}

func (s *session) readPreface() error {
	preface := make([]byte, len(prefaceMagic)+1)
	for at := range preface {
		// Byte by byte, so that a stranger is told as soon as it is one.
		b, err := s.frames.in.ReadByte()
		if err != nil {
			return err
		}
		if at < len(prefaceMagic) && b != prefaceMagic[at] {
			if at == 0 && b == tlsHandshakeRecord {
				return s.decline(refuse(s.peer, CodeHandshake, "TLS came where plaintext is spoken"))
			}
			return s.decline(refuse(s.peer, CodeHandshake, "what came is not the preface of a node"))
		}
		preface[at] = b
	}
	if s.kind = Kind(preface[len(prefaceMagic)]); !s.kind.Valid() {
		return s.decline(refuse(s.peer, CodeHandshake, "no such kind of link: %s", s.kind))
	}
	return nil
}

// tlsHandshakeRecord is the first byte of a client that speaks TLS.
const tlsHandshakeRecord = 0x16

// classify tells the errors of TLS apart: refusals, by either side, and
// connections that just ended, which are returned as they are.
func (s *session) classify(err error) error {
	code := CodeHandshake
	if strings.Contains(err.Error(), "certificate") {
		// Most alerts and errors about certificates have no types.
		code = CodeCertificate
	}
	var plain tls.RecordHeaderError
	var remote *net.OpError
	var timeout net.Error
	switch {
	case errors.As(err, &remote) && remote.Op == "remote error":
		reason := strings.TrimPrefix(remote.Err.Error(), "tls: ")
		if code == CodeCertificate {
			reason = "it does not accept this node's certificate: " + reason
		}
		return &RefusedError{Peer: s.peer, ByPeer: true, Code: code, Reason: reason}
	case errors.As(err, &timeout), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &plain):
		return refuse(s.peer, code, "what came is not TLS")
	}
	return refuse(s.peer, code, "%w", err)
}

// judge returns why this node refuses the peer, whose hello is known; nil if
// it does not. It asks admit last.
func (s *session) judge(own Hello, cluster string, admit func(Peer) error) *RefusedError {
	if s.leaf != nil {
		want, err := NodeURI(cluster, s.peer.Node)
		if err == nil {
			err = checkURI(s.leaf, want)
		}
		if err != nil {
			return refuse(s.peer, CodeIdentity, "%w", err)
		}
	}
	if s.peer.Cluster != own.Cluster {
		return refuse(s.peer, CodeCluster, "node %d is of the cluster with hash %x, node %d of that with hash %x",
			s.peer.Node, s.peer.Cluster[:8], own.Node, own.Cluster[:8])
	}
	version, ok := own.Protocol.agree(s.peer.Protocol)
	if !ok {
		return refuse(s.peer, CodeProtocol, "node %d speaks protocol versions %d to %d, node %d speaks %d to %d",
			s.peer.Node, s.peer.Protocol.Lowest, s.peer.Protocol.Highest, own.Node, own.Protocol.Lowest, own.Protocol.Highest)
	}
	s.peer.Version = version
	if err := admit(s.peer); err != nil {
		return notAdmitted(s.peer, err)
	}
	return nil
}

// greetDialled exchanges hellos and answers as the dialler. It returns nil
// when both sides have said yes, a *RefusedError when one said no.
func (s *session) greetDialled(own Hello, judge func() *RefusedError) error {
	if err := s.write(appendFrame(nil, appendHello(nil, own, s.from))); err != nil {
		return err
	}
	message, err := s.read()
	if err != nil {
		return err
	}
	if message[0] != answerSign { // an acceptor that refused early sends no hello
		if err := s.hear(message); err != nil {
			return s.decline(err)
		}
		if message, err = s.read(); err != nil {
			return err
		}
	}
	refused, err := parseAnswer(message, s.peer)
	switch {
	case err != nil:
		return s.decline(refuse(s.peer, CodeHandshake, "%w", err))
	case refused != nil:
		return refused
	case s.peer.Node == 0:
		return s.decline(refuse(s.peer, CodeHandshake, "it said yes without a hello"))
	}
	if refused := judge(); refused != nil {
		return s.decline(refused)
	}
	return s.write(appendFrame(nil, appendAnswer(nil, nil)))
}

// greetAccepted exchanges hellos and answers as the acceptor, alike.
func (s *session) greetAccepted(own Hello, judge func() *RefusedError) error {
	message, err := s.read()
	if err != nil {
		return err
	}
	if err := s.hear(message); err != nil {
		return s.decline(err)
	}
	hello := appendFrame(nil, appendHello(nil, own, ""))
	if s.from == "" {
		return s.decline(refuse(s.peer, CodeHandshake, "its hello has no address"))
	}
	if refused := judge(); refused != nil {
		if err := s.write(hello); err != nil {
			return refused
		}
		return s.decline(refused)
	}
	if err := s.write(appendFrame(hello, appendAnswer(nil, nil))); err != nil {
		return err
	}
	if message, err = s.read(); err != nil {
		return err
	}
	refused, err := parseAnswer(message, s.peer)
	if err != nil {
		return s.decline(refuse(s.peer, CodeHandshake, "%w", err))
	}
	if refused != nil {
		return refused
	}
	return nil
}

// hear takes the peer's hello.
func (s *session) hear(message []byte) *RefusedError {
	hello, from, err := parseHello(message)
	if err != nil {
		return refuse(s.peer, CodeHandshake, "%w", err)
	}
	s.peer.Hello = hello
	if s.peer.Accepted {
		s.from = from
	}
	return nil
}

// read reads a hello or an answer, which has at least one byte.
func (s *session) read() ([]byte, error) {
	message, err := s.frames.next(helloBytesMax)
	switch {
	case errors.Is(err, errFrame):
		return nil, s.decline(refuse(s.peer, CodeHandshake, "%w", err))
	case err != nil:
		return nil, s.classify(err)
	case len(message) == 0:
		return nil, s.decline(refuse(s.peer, CodeHandshake, "an empty message in the handshake"))
	}
	return message, nil
}

func (s *session) write(wire []byte) error {
	_, err := s.conn.Write(wire)
	return err
}

// decline tells the peer why it is refused, and returns that.
func (s *session) decline(refused *RefusedError) error {
	// It may have gone already; who asks gets the refusal in any case.
	_ = s.write(appendFrame(nil, appendAnswer(nil, refused)))
	return refused
}

const (
	// partingTime and partingBytes bound what parting waits for and reads.
	partingTime  = time.Second
	partingBytes = 64 << 10
)

// part ends a session whose handshake failed, so that what was said last can
// be read: a close with bytes unread would reset the connection, and the reset
// overtakes what is on its way. It waits for the peer to end the connection,
// at most partingTime and not past the deadline the session has.
func (s *session) part(deadline time.Time) {
	defer s.raw.Close()
	for _, conn := range []net.Conn{s.conn, s.raw} { // the same twice when there is no TLS, which does no harm
		if half, ok := conn.(interface{ CloseWrite() error }); !ok || half.CloseWrite() != nil {
			return
		}
	}
	if soon := time.Now().Add(partingTime); soon.Before(deadline) {
		deadline = soon
	}
	if err := s.raw.SetReadDeadline(deadline); err != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, s.raw, partingBytes)
}
