package httpfence

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/palisade-go/palisade/token"
)

// The header fields of the protocol. They never change.
const (
	// TokenHeader has the token of the lease under which a request is made, in
	// decimal. In an answer it has the token under which the guard let the
	// request through; in a replay that of the attempt that took effect.
	TokenHeader = "Fencing-Token"
	// OperationHeader has the operation id of a request, in one of the forms
	// that the package comment lists.
	OperationHeader = "Idempotency-Key"
	// ReplayedHeader is "true" in an answer that was given before.
	ReplayedHeader = "Idempotent-Replayed"
)

// errNoToken says that a request has no token at all.
var errNoToken = errors.New("the request has no " + TokenHeader + " header")

// tokenOf returns the one token that the header has, errNoToken, or an error
// with token.ErrInvalid. Two headers are refused even if they are equal: which
// of them another reader on the way has looked at can't be known.
func tokenOf(h http.Header) (token.Token, error) {
	values := h.Values(TokenHeader)
	switch len(values) {
	case 0:
		return 0, errNoToken
	case 1:
		t, err := token.Parse(values[0])
		if err != nil {
			return 0, fmt.Errorf("%s: %w", TokenHeader, err)
		}
		return t, nil
	}
	return 0, fmt.Errorf("%w: %d %s headers", token.ErrInvalid, len(values), TokenHeader)
}

// operationOf returns the operation id that the header has, "" if it has none.
func operationOf(h http.Header) (token.Operation, error) {
	values := h.Values(OperationHeader)
	switch len(values) {
	case 0:
		return "", nil
	case 1:
		id, err := parseOperation(values[0])
		if err != nil {
			return "", fmt.Errorf("%s: %w", OperationHeader, err)
		}
		return id, nil
	}
	return "", fmt.Errorf("%w: %d %s headers", token.ErrInvalid, len(values), OperationHeader)
}

// operationTextMax is the length of the longest text of an operation id: each
// byte as a percent, two digits, and what stands around them.
const operationTextMax = 3*token.OperationBytesMax + 3

// parseOperation reads the text of an operation id. What token.Write.Check
// says about the id itself is not checked here, but for the empty one.
func parseOperation(text string) (token.Operation, error) {
	if len(text) > operationTextMax {
		return "", fmt.Errorf("%w: operation id of %d bytes", token.ErrInvalid, len(text))
	}
	var id string
	var err error
	switch {
	case strings.HasPrefix(text, `"`):
		id, err = parseString(text[1:])
	case strings.HasPrefix(text, `%"`):
		id, err = parseDisplayString(text[2:])
	default:
		id, err = parseBare(text)
	}
	if err != nil {
		return "", fmt.Errorf("%w: operation id %.64q: %w", token.ErrInvalid, text, err)
	}
	if id == "" {
		return "", fmt.Errorf("%w: empty operation id", token.ErrInvalid)
	}
	return token.Operation(id), nil
}

// parseString reads a string of RFC 9651, section 4.2.5, without the quote it
// begins with. Parameters after it are refused: none is defined.
func parseString(text string) (string, error) {
	var id strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return id.String(), atEnd(text[i+1:])
		case c == '\\':
			i++
			if i == len(text) || text[i] != '"' && text[i] != '\\' {
				return "", errors.New(`a backslash stands before a quote or a backslash only`)
			}
			id.WriteByte(text[i])
		case !printable(c):
			return "", fmt.Errorf("byte 0x%02x in a string", c)
		default:
			id.WriteByte(c)
		}
	}
	return "", errors.New("the string has no end")
}

// parseDisplayString reads a display string of RFC 9651, section 4.2.10,
// without the percent and the quote it begins with. It is how an id that is
// not ASCII is written.
func parseDisplayString(text string) (string, error) {
	var id strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return id.String(), atEnd(text[i+1:])
		case c == '%':
			if i+2 >= len(text) {
				return "", errors.New("the string has no end")
			}
			high, low := hexDigit(text[i+1]), hexDigit(text[i+2])
			if high < 0 || low < 0 {
				return "", errors.New("a percent stands before two lower-case hexadecimal digits only")
			}
			id.WriteByte(byte(high<<4 | low))
			i += 2
		case !printable(c):
			return "", fmt.Errorf("byte 0x%02x in a string", c)
		default:
			id.WriteByte(c)
		}
	}
	return "", errors.New("the string has no end")
}

// parseBare reads an id without quotes, as many clients send it. Comma and
// semicolon are refused: what has them is two values joined by a proxy, or a
// value with parameters.
func parseBare(text string) (string, error) {
	for i := range len(text) {
		if c := text[i]; !printable(c) || strings.IndexByte(` ",;\`, c) >= 0 {
			return "", fmt.Errorf("byte 0x%02x without quotes", c)
		}
	}
	return text, nil
}

func atEnd(rest string) error {
	if rest != "" {
		return fmt.Errorf("%d bytes after the string", len(rest))
	}
	return nil
}

func printable(c byte) bool { return 0x20 <= c && c <= 0x7e }

// hexDigit returns the value of a lower-case digit, -1 for any other byte.
func hexDigit(c byte) int { return strings.IndexByte("0123456789abcdef", c) }

// formatOperation writes an id: a string, or a display string if it is not all
// printable ASCII.
func formatOperation(id token.Operation) string {
	plain := true
	for i := range len(id) {
		plain = plain && printable(id[i])
	}
	var text strings.Builder
	if plain {
		text.WriteByte('"')
		for i := range len(id) {
			if id[i] == '"' || id[i] == '\\' {
				text.WriteByte('\\')
			}
			text.WriteByte(id[i])
		}
	} else {
		text.WriteString(`%"`)
		for i := range len(id) {
			if c := id[i]; !printable(c) || c == '%' || c == '"' {
				fmt.Fprintf(&text, "%%%02x", c)
			} else {
				text.WriteByte(c)
			}
		}
	}
	text.WriteByte('"')
	return text.String()
}
