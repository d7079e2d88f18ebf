package token_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

// Each target takes arbitrary input. What the reader accepts must be none or
// the token of a grant, and must be written back as the same bytes.

func FuzzParse(f *testing.F) {
	for _, v := range goldenVectors(f) {
		f.Add(v.text)
	}
	for _, refused := range refusedTexts {
		f.Add(refused.text[:min(len(refused.text), 64)])
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := token.Parse(text)
		if err == nil {
			require.True(t, parsed.Valid())
			require.Equal(t, text, parsed.String())
		} else {
			require.ErrorIs(t, err, token.ErrInvalid)
			require.Zero(t, parsed)
		}

		var read token.Token
		readErr := read.UnmarshalText([]byte(text))
		if text == "0" {
			require.NoError(t, readErr)
			require.Error(t, err)
			return
		}
		require.Equal(t, err == nil, readErr == nil, "only none tells the readers apart")
		require.Equal(t, parsed, read)
	})
}

func FuzzJSON(f *testing.F) {
	for _, v := range goldenVectors(f) {
		f.Add([]byte(v.json))
		f.Add([]byte(v.text))
	}
	for _, refused := range refusedTexts {
		f.Add([]byte(`"` + refused.text[:min(len(refused.text), 64)] + `"`))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		read := token.Token(77)
		if err := read.UnmarshalJSON(data); err != nil {
			require.ErrorIs(t, err, token.ErrInvalid)
			require.Equal(t, token.Token(77), read)
			return
		}
		require.True(t, read.IsZero() || read.Valid())
		require.True(t, json.Valid(data))
		written, err := json.Marshal(read)
		require.NoError(t, err)
		require.True(t, string(data) == string(written) || string(data) == read.String())
	})
}

func FuzzBinary(f *testing.F) {
	for _, v := range goldenVectors(f) {
		f.Add(v.binary)
		f.Add(v.binary[1:])
		f.Add(append(v.binary[:8:8], 0))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		read := token.Token(77)
		if err := read.UnmarshalBinary(data); err != nil {
			require.ErrorIs(t, err, token.ErrInvalid)
			require.Equal(t, token.Token(77), read)
			return
		}
		require.True(t, read.IsZero() || read.Valid())
		written, err := read.MarshalBinary()
		require.NoError(t, err)
		require.Equal(t, data, written)
	})
}

func FuzzEveryTokenSurvivesEveryForm(f *testing.F) {
	for _, v := range goldenVectors(f) {
		f.Add(uint64(v.bigint))
	}
	for _, bad := range notTokens {
		f.Add(uint64(bad))
	}
	f.Fuzz(func(t *testing.T, value uint64) {
		given := token.Token(value)
		made, err := token.New(given.Epoch(), given.Counter())
		require.Equal(t, given.Valid(), err == nil && made == given, "Valid is what New can make")
		if !given.Valid() {
			return
		}
		text, err := given.MarshalText()
		require.NoError(t, err)
		parsed, err := token.Parse(string(text))
		require.NoError(t, err)
		require.Equal(t, given, parsed)

		var viaJSON, viaBinary, viaSQL token.Token
		data, err := json.Marshal(given)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &viaJSON))
		require.Equal(t, given, viaJSON)
		binary, err := given.MarshalBinary()
		require.NoError(t, err)
		require.NoError(t, viaBinary.UnmarshalBinary(binary))
		require.Equal(t, given, viaBinary)
		column, err := given.Value()
		require.NoError(t, err)
		require.NoError(t, viaSQL.Scan(column))
		require.Equal(t, given, viaSQL)

		next, err := given.Next()
		if given.Counter() == token.CounterMax {
			require.ErrorIs(t, err, token.ErrExhausted)
			return
		}
		require.NoError(t, err)
		require.Greater(t, next, given)
		require.Equal(t, given.Epoch(), next.Epoch())
	})
}
