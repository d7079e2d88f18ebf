package token_test

import (
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

var (
	_ encoding.TextMarshaler     = token.Token(0)
	_ encoding.TextUnmarshaler   = (*token.Token)(nil)
	_ encoding.BinaryMarshaler   = token.Token(0)
	_ encoding.BinaryUnmarshaler = (*token.Token)(nil)
	_ json.Marshaler             = token.Token(0)
	_ json.Unmarshaler           = (*token.Token)(nil)
	_ driver.Valuer              = token.Token(0)
	_ sql.Scanner                = (*token.Token)(nil)
)

func TestParseRefusesNoneThatOtherReadersTake(t *testing.T) {
	_, err := token.Parse("0")
	require.ErrorIs(t, err, token.ErrInvalid)
	require.ErrorContains(t, err, "none")
	for form, read := range map[string]func(*token.Token) error{
		"text":   func(into *token.Token) error { return into.UnmarshalText([]byte("0")) },
		"JSON":   func(into *token.Token) error { return json.Unmarshal([]byte(`"0"`), into) },
		"binary": func(into *token.Token) error { return into.UnmarshalBinary(make([]byte, token.BinaryBytes)) },
		"SQL":    func(into *token.Token) error { return into.Scan(int64(0)) },
	} {
		into := token.Token(77)
		require.NoError(t, read(&into), form)
		require.True(t, into.IsZero(), form)
	}
}

func TestWhatIsNoTokenIsNeverWritten(t *testing.T) {
	for name, bad := range notTokens {
		t.Run(name, func(t *testing.T) {
			_, err := bad.MarshalText()
			require.ErrorIs(t, err, token.ErrInvalid)
			_, err = bad.MarshalJSON()
			require.ErrorIs(t, err, token.ErrInvalid)
			_, err = bad.MarshalBinary()
			require.ErrorIs(t, err, token.ErrInvalid)
			before := []byte("before")
			after, err := bad.AppendBinary(before)
			require.ErrorIs(t, err, token.ErrInvalid)
			require.Equal(t, before, after)
			_, err = bad.Value()
			require.ErrorIs(t, err, token.ErrInvalid)
			require.Equal(t, fmt.Sprint(uint64(bad)), bad.String(), "String shows it all the same")
		})
	}
}
