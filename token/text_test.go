package token_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

// refusedTexts are no token's spelling, whatever strconv would make of them.
var refusedTexts = []struct{ text, names string }{
	{"", "empty"},
	{"+1", "no decimal digit"},
	{"-1", "no decimal digit"},
	{"-0", "no decimal digit"},
	{" 1", "no decimal digit"},
	{"1 ", "no decimal digit"},
	{"1\n", "no decimal digit"},
	{"1\x00", "no decimal digit"},
	{"1_000", "no decimal digit"},
	{"1,000", "no decimal digit"},
	{"0x10", "no decimal digit"},
	{"1.0", "no decimal digit"},
	{"1e3", "no decimal digit"},
	{"1E3", "no decimal digit"},
	{"NaN", "no decimal digit"},
	{"null", "no decimal digit"},
	{"１", "no decimal digit"}, // a full-width one
	{"٣", "no decimal digit"}, // an Arabic-Indic three
	{"/", "no decimal digit"}, // the neighbours of 0 and 9
	{":", "no decimal digit"},
	{"01", "leading zero"},
	{"00", "leading zero"},
	{"0000000000000000001", "leading zero"},
	{"00000000000000000001", "longer than 19 digits"},
	{"9223372036854775808", "63 bits"}, // 2^63
	{"9999999999999999999", "63 bits"},
	{"18446744073709551615", "longer than 19 digits"}, // 2^64-1
	{"18446744073709551617", "longer than 19 digits"}, // 1 if it wrapped
	{"9007199254740992", "counter 0"},                 // epoch 1 without a counter
	{strings.Repeat("1", 1<<20), "longer than 19 digits"},
}

func TestReadersRefuseEverySecondSpelling(t *testing.T) {
	for _, refused := range refusedTexts {
		t.Run(fmt.Sprintf("%.24q", refused.text), func(t *testing.T) {
			parsed, err := token.Parse(refused.text)
			require.ErrorIs(t, err, token.ErrInvalid)
			require.ErrorContains(t, err, refused.names)
			require.Less(t, len(err.Error()), 400, "an error must not carry what a stranger sent")
			require.Zero(t, parsed)

			for form, read := range map[string]func(*token.Token) error{
				"text":        func(into *token.Token) error { return into.UnmarshalText([]byte(refused.text)) },
				"JSON string": func(into *token.Token) error { return into.UnmarshalJSON([]byte(`"` + refused.text + `"`)) },
				"JSON number": func(into *token.Token) error { return into.UnmarshalJSON([]byte(refused.text)) },
				"string":      func(into *token.Token) error { return into.Scan(refused.text) },
				"[]byte":      func(into *token.Token) error { return into.Scan([]byte(refused.text)) },
			} {
				into := token.Token(77)
				err := read(&into)
				require.ErrorIs(t, err, token.ErrInvalid, form)
				require.ErrorContains(t, err, refused.names, form)
				require.Equal(t, token.Token(77), into, "%s: unchanged on error", form)
			}
		})
	}
}

func TestParseReadsWhatStringWrites(t *testing.T) {
	for _, v := range goldenVectors(t)[1:] { // the first is none
		parsed, err := token.Parse(v.text)
		require.NoError(t, err)
		require.Equal(t, mustNew(t, v.epoch, v.counter), parsed)
	}
}
