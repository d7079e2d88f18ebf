package transport

import (
	"errors"
	"io"
	"net"
	"time"
)

// judge returns why this node refuses the peer, whose hello is known; nil if
// it does not. What the hello says is judged once the certificate bears it out.
func (s *session) judge(own Member, cluster string) *RefusedError {
	if s.leaf != nil {
		want, err := NodeURI(cluster, s.peer.Node)
		if err == nil {
			err = checkURI(s.leaf, want)
		}
		if err != nil {
			return refuse(s.peer, CodeIdentity, "%w", err)
		}
	}
	return own.judge(&s.peer)
}

// greetDialled exchanges hellos and answers as the dialler, whose own address is
// from. It returns nil when both sides have said yes, a *RefusedError when one
// said no.
func (s *session) greetDialled(own Hello, from string, judge func() *RefusedError) error {
	if err := s.write(appendFrame(nil, appendHello(nil, own, from))); err != nil {
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
	if s.peer.Address == "" {
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
		s.peer.Address = from
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
