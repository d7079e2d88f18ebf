package token

import (
	"fmt"
	"strconv"
)

// textBytesMax is the length of the greatest token in decimal.
const textBytesMax = 19

// String returns t in decimal, "0" for none. It never fails, so it shows
// values that are not tokens as well.
func (t Token) String() string { return strconv.FormatUint(uint64(t), 10) }

// Parse reads a token that somebody presents, as in a header: decimal digits
// and nothing else, no sign, space, underscore or leading zero. It refuses
// "0", because a writer who presents none has no lease. The error is
// ErrInvalid.
func Parse(s string) (Token, error) {
	t, err := parseOrNone(s)
	if err != nil {
		return 0, err
	}
	if err := t.check(); err != nil {
		return 0, err
	}
	return t, nil
}

// MarshalText returns the decimal form, "0" for none, or ErrInvalid for a
// value that is not a token.
func (t Token) MarshalText() ([]byte, error) {
	if err := t.checkOrNone(); err != nil {
		return nil, err
	}
	return strconv.AppendUint(nil, uint64(t), 10), nil
}

// UnmarshalText reads what MarshalText writes and nothing else; unlike Parse
// it takes "0". On error, ErrInvalid, t is unchanged.
func (t *Token) UnmarshalText(text []byte) error {
	read, err := parseOrNone(string(text))
	if err != nil {
		return err
	}
	*t = read
	return nil
}

// parseOrNone reads the one spelling that each token and none have. The length
// is looked at first, so the cost does not depend on what a stranger sends.
func parseOrNone(s string) (Token, error) {
	switch {
	case s == "":
		return 0, fmt.Errorf("%w: empty text", ErrInvalid)
	case len(s) > textBytesMax:
		return 0, fmt.Errorf("%w: text %s is longer than %d digits", ErrInvalid, clip(s), textBytesMax)
	}
	var value uint64 // 19 digits stay below 2^64
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, fmt.Errorf("%w: text %s has a character that is no decimal digit", ErrInvalid, clip(s))
		}
		value = value*10 + uint64(s[i]-'0')
	}
	if s[0] == '0' && len(s) > 1 {
		return 0, fmt.Errorf("%w: text %s has a leading zero", ErrInvalid, clip(s))
	}
	t := Token(value)
	if err := t.checkOrNone(); err != nil {
		return 0, err
	}
	return t, nil
}
