package token

import "fmt"

// MarshalJSON returns the decimal form in quotes, `"0"` for none. It is a
// string because readers that keep numbers as floats would round a token above
// 2^53. It returns ErrInvalid for a value that is not a token.
func (t Token) MarshalJSON() ([]byte, error) {
	text, err := t.MarshalText()
	if err != nil {
		return nil, err
	}
	quoted := make([]byte, 0, len(text)+2)
	quoted = append(quoted, '"')
	quoted = append(quoted, text...)
	return append(quoted, '"'), nil
}

// UnmarshalJSON reads what MarshalJSON writes, and the same digits as a JSON
// number. It refuses null, fractions, exponents and escapes in the string: a
// number that was a float on its way may be another token by now. A field that
// may be null is a *Token. On error, ErrInvalid, t is unchanged.
func (t *Token) UnmarshalJSON(data []byte) error {
	digits := string(data)
	if n := len(data); n >= 2 && data[0] == '"' && data[n-1] == '"' {
		digits = string(data[1 : n-1])
	}
	read, err := parseOrNone(digits)
	if err != nil {
		return fmt.Errorf("%w: JSON must be an exact decimal number or a string of one", err)
	}
	*t = read
	return nil
}
