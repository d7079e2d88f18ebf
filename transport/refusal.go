package transport

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Code says why a node was refused. The numbers are part of the wire format;
// never renumber. Below CodeAdmit they are the transport's own; from there on
// they are free for Admit.
type Code uint16

// The codes of the transport.
const (
	CodeHandshake   Code = 1   // what came is no handshake of this network
	CodeCertificate Code = 2   // TLS did not accept the certificate
	CodeIdentity    Code = 3   // the certificate is not that of the node and the cluster
	CodeCluster     Code = 4   // the hash of another cluster
	CodeProtocol    Code = 5   // no protocol version in common
	CodeLinks       Code = 6   // the node has too many links here already
	CodeAdmit       Code = 256 // Admit said no, without a code of its own
)

// String returns the code's name, or its number when it has none.
func (c Code) String() string {
	switch c {
	case CodeHandshake:
		return "handshake"
	case CodeCertificate:
		return "certificate"
	case CodeIdentity:
		return "identity"
	case CodeCluster:
		return "cluster"
	case CodeProtocol:
		return "protocol"
	case CodeLinks:
		return "links"
	case CodeAdmit:
		return "admit"
	}
	return fmt.Sprintf("code %d", uint16(c))
}

// RefusedError says that one node would not have a link with the other. It
// matches ErrRefused, and what Admit returned here.
//
// Admit may return one to choose the code, from CodeAdmit on, and the text
// that the other side gets; the transport fills in the rest of a copy.
type RefusedError struct {
	// Peer is the other side, as far as it is known: its Hello is zero when
	// the refusal came before it. With CodeIdentity and every greater code
	// each side has the other's, whoever refused.
	Peer Peer
	// ByPeer says who refused: true for the other side, false for this one.
	ByPeer bool
	// Code says why, for programs.
	Code Code
	// Reason says why, for people. From the other side it comes in at most
	// ReasonBytesMax bytes of printable text.
	Reason string
	// Err is the cause when this side refused, nil when the other did.
	Err error
}

// ReasonBytesMax is how many bytes of a reason reach the other side.
const ReasonBytesMax = 512

// Error implements error.
func (e *RefusedError) Error() string {
	who := "refused " + e.Peer.String()
	if e.ByPeer {
		who = "refused by " + e.Peer.String()
	}
	return fmt.Sprintf("transport: %s: %s (%s)", who, e.Reason, e.Code)
}

// Unwrap returns ErrRefused and the cause.
func (e *RefusedError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrRefused}
	}
	return []error{ErrRefused, e.Err}
}

// heardFrom returns a refusal as it reaches the other side, whose peer is who
// refused.
func (e *RefusedError) heardFrom(peer Peer) *RefusedError {
	return &RefusedError{Peer: peer, ByPeer: true, Code: e.Code, Reason: printable(e.Reason)}
}

// refuse returns the refusal of a peer by this side.
func refuse(peer Peer, code Code, format string, args ...any) *RefusedError {
	err := fmt.Errorf(format, args...)
	return &RefusedError{Peer: peer, Code: code, Reason: err.Error(), Err: err}
}

// notAdmitted returns the refusal that follows from an error of Admit.
func notAdmitted(peer Peer, err error) *RefusedError {
	refused := &RefusedError{Peer: peer, Code: CodeAdmit, Reason: err.Error(), Err: err}
	var chosen *RefusedError
	if errors.As(err, &chosen) {
		refused.Code = max(chosen.Code, CodeAdmit)
		refused.Reason = chosen.Reason
	}
	return refused
}

// The wire form of an answer; see the package comment. Part of the format.
const (
	answerSign     = 0x02 // the first byte
	answerBytesMin = 3
	answerBytesMax = answerBytesMin + ReasonBytesMax
)

// errAnswer says that what came is not an answer.
var errAnswer = errors.New("not an answer")

// appendAnswer appends the wire form of an answer: yes for nil.
func appendAnswer(to []byte, refused *RefusedError) []byte {
	to = append(to, answerSign)
	if refused == nil {
		return binary.BigEndian.AppendUint16(to, 0)
	}
	to = binary.BigEndian.AppendUint16(to, uint16(refused.Code))
	return append(to, printable(refused.Reason)...)
}

// parseAnswer reads the wire form. It returns nil for yes, and otherwise the
// refusal by peer.
func parseAnswer(wire []byte, peer Peer) (*RefusedError, error) {
	switch {
	case len(wire) > answerBytesMax:
		return nil, fmt.Errorf("%w: %d bytes, at most %d are allowed", errAnswer, len(wire), answerBytesMax)
	case len(wire) < answerBytesMin || wire[0] != answerSign:
		return nil, fmt.Errorf("%w: it does not begin like one", errAnswer)
	}
	code, reason := Code(binary.BigEndian.Uint16(wire[1:])), string(wire[answerBytesMin:])
	switch {
	case code == 0 && reason != "":
		return nil, fmt.Errorf("%w: a yes with a reason", errAnswer)
	case code == 0:
		return nil, nil
	}
	refused := RefusedError{Code: code, Reason: reason}
	return refused.heardFrom(peer), nil
}

// printable returns text of at most ReasonBytesMax bytes in which everything
// that could disturb a log or a terminal is a space.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	if len(text) > ReasonBytesMax {
		end := ReasonBytesMax
		for !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	return text
}
