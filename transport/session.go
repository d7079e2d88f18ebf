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
)

// session is one TCP connection, from its handshake to its end.
//
//	dialler                              acceptor
//	   | preface (Insecure) or TLS, kind    |  secure
//	   |----------------------------------->|
//	   | hello                              |  greet
//	   |----------------------------------->|  judges: identity, cluster,
//	   |                      hello, answer |  protocol, Admit, links
//	   |<-----------------------------------|
//	   | answer                             |  judges alike
//	   |----------------------------------->|
//	   | frames                             |
//	   |----------------------------------->|
//
// An answer other than yes is the last that its side sends.
type session struct {
	raw    net.Conn     // below TLS; closing it breaks the session at once
	conn   net.Conn     // what is read and written
	frames *frameReader // of conn; nil until it is secure
	kind   Kind
	peer   Peer
	leaf   *x509.Certificate // of the peer; nil when Insecure
}

// prefaceMagic begins a connection of an Insecure network; the kind follows.
// Part of the wire format.
const prefaceMagic = "palisade"

func newSession(raw net.Conn, peer Peer) *session {
	peer.Remote = raw.RemoteAddr()
	return &session{raw: raw, conn: raw, peer: peer}
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
		s.frames = newFrameReader(s.raw)
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
		s.frames = newFrameReader(s.raw)
		return s.readPreface()
	}
	conn := tls.Server(s.raw, &tls.Config{
		// Asked when a ClientHello is there, so that noise costs no look at
		// the files.
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return files.get().server(), nil },
	})
	if err := s.overTLS(ctx, conn); err != nil {
		var plain tls.RecordHeaderError
		if errors.As(err, &plain) && bytes.HasPrefix([]byte(prefaceMagic), plain.RecordHeader[:]) {
			// The other side reads plaintext, so it can be told in plaintext.
			return s.decline(refuse(s.peer, CodeHandshake, "plaintext came where TLS is required"))
		}
		return s.classify(err)
	}
	for _, kind := range kinds {
		if conn.ConnectionState().NegotiatedProtocol == kind.protocol() {
			s.kind = kind
			return nil
		}
	}
	return s.decline(refuse(s.peer, CodeHandshake, "it names none of the protocols %s",
		strings.Join(protocols(), " and ")))
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
