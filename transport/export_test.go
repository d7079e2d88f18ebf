package transport

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"time"
)

// What tests reach inside for: the wire forms, and the two ports to the
// system.

const (
	HelloBytesMax = helloBytesMax
	LobbyMax      = lobbyMax
	InletsMax     = inletsMax
	PaceLength    = paceLength
	FrameGrow     = frameGrowBytes
)

var (
	ErrHello    = errHello
	ErrFrame    = errFrame
	ErrAnswer   = errAnswer
	AppendHello = appendHello
	ParseHello  = parseHello
	AppendFrame = appendFrame
)

// ReadFrame reads one frame from the wire.
func ReadFrame(wire io.Reader, bytesMax int) ([]byte, error) {
	return newFrameReader(wire).next(bytesMax)
}

// ReadFrames reads frames until the wire ends.
func ReadFrames(wire []byte, bytesMax int) (frames [][]byte, err error) {
	r := newFrameReader(bytes.NewReader(wire))
	for {
		frame, err := r.next(bytesMax)
		if err != nil {
			return frames, err
		}
		frames = append(frames, frame)
	}
}

// AppendAnswer appends the wire form of an answer; no code is yes.
func AppendAnswer(to []byte, code Code, reason string) []byte {
	if code == 0 {
		return appendAnswer(to, nil)
	}
	return appendAnswer(to, &RefusedError{Code: code, Reason: reason})
}

// ParseAnswer reads the wire form of an answer of a peer.
func ParseAnswer(wire []byte, peer Peer) (*RefusedError, error) { return parseAnswer(wire, peer) }

// Agree returns the version of two ranges.
func (v Versions) Agree(other Versions) (uint16, bool) { return v.agree(other) }

// ListenOn listens with a listener of the test's.
func (t *TCP) ListenOn(inner net.Listener, addr string, h Handler) (io.Closer, error) {
	return t.listenOn(inner, addr, h)
}

// SetResolve looks names up with a function of the test's.
func (t *TCP) SetResolve(resolve func(ctx context.Context, host string) ([]netip.Addr, error)) {
	t.resolve = resolve
}

// Lobby is a lobby of a listener.
type Lobby struct{ inside lobby }

// Enter takes a connection in, and returns what takes it out.
func (l *Lobby) Enter(conn net.Conn) (leave func() bool) {
	v, _ := l.inside.enter(conn)
	return func() bool { return v != nil && l.inside.leave(v) }
}

// Close closes the lobby.
func (l *Lobby) Close() { l.inside.close() }

// Pace is a pace of a log.
type Pace struct{ inside pace }

// Pass is its method.
func (p *Pace) Pass(sort string, now time.Time) (int, bool) { return p.inside.pass(sort, now) }

// RawOf returns the connection below a link.
func RawOf(link Link) net.Conn { return link.(*tcpLink).session.raw }

// CredentialsSource reads files.
type CredentialsSource struct{ inside *credentialsSource }

// NewCredentialsSource reads files for the first time.
func NewCredentialsSource(files TLS, self string, logger *slog.Logger) (*CredentialsSource, error) {
	s, err := newCredentialsSource(files, self, logger)
	return &CredentialsSource{s}, err
}

// Serial returns the serial number of the certificate in use.
func (s *CredentialsSource) Serial() int64 { return s.inside.get().pair.Leaf.SerialNumber.Int64() }

// NewSteadyWriter writes to a connection whose peer may stall.
func NewSteadyWriter(conn net.Conn, stall time.Duration) io.Writer {
	return &steadyWriter{conn: conn, stall: stall}
}
