package token

import (
	"encoding/binary"
	"fmt"
)

// BinaryBytes is the length of the binary form.
const BinaryBytes = 8

// AppendBinary appends the binary form: eight bytes, big endian, whose order
// as bytes is the order of tokens. For a value that is not a token it returns
// b as it was and ErrInvalid.
func (t Token) AppendBinary(b []byte) ([]byte, error) {
	if err := t.checkOrNone(); err != nil {
		return b, err
	}
	return binary.BigEndian.AppendUint64(b, uint64(t)), nil
}

// MarshalBinary returns the binary form; see AppendBinary.
func (t Token) MarshalBinary() ([]byte, error) {
	if err := t.checkOrNone(); err != nil {
		return nil, err
	}
	return binary.BigEndian.AppendUint64(make([]byte, 0, BinaryBytes), uint64(t)), nil
}

// UnmarshalBinary reads the binary form of a token or none; data must be
// exactly BinaryBytes long. On error, ErrInvalid, t is unchanged.
func (t *Token) UnmarshalBinary(data []byte) error {
	if len(data) != BinaryBytes {
		return fmt.Errorf("%w: binary form has %d bytes, not %d", ErrInvalid, len(data), BinaryBytes)
	}
	read := Token(binary.BigEndian.Uint64(data))
	if err := read.checkOrNone(); err != nil {
		return err
	}
	*t = read
	return nil
}
