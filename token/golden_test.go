package token_test

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

// vector is one line of testdata/golden/tokens.txt.
type vector struct {
	epoch, counter uint64
	text, json     string
	binary         []byte
	bigint         int64
}

func goldenVectors(t testing.TB) []vector {
	t.Helper()
	file, err := os.Open("testdata/golden/tokens.txt")
	require.NoError(t, err)
	defer file.Close()
	var vectors []vector
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		columns := strings.Fields(line)
		require.Len(t, columns, 6, line)
		var v vector
		v.epoch, err = strconv.ParseUint(columns[0], 10, 64)
		require.NoError(t, err)
		v.counter, err = strconv.ParseUint(columns[1], 10, 64)
		require.NoError(t, err)
		v.text, v.json = columns[2], columns[3]
		v.binary, err = hex.DecodeString(columns[4])
		require.NoError(t, err)
		v.bigint, err = strconv.ParseInt(columns[5], 10, 64)
		require.NoError(t, err)
		vectors = append(vectors, v)
	}
	require.NoError(t, lines.Err())
	require.GreaterOrEqual(t, len(vectors), 16)
	return vectors
}

func TestGoldenFormsAreWrittenAndReadExactly(t *testing.T) {
	for _, v := range goldenVectors(t) {
		t.Run("epoch "+strconv.FormatUint(v.epoch, 10)+" counter "+strconv.FormatUint(v.counter, 10), func(t *testing.T) {
			var want token.Token
			if v.counter != 0 {
				var err error
				want, err = token.New(v.epoch, v.counter)
				require.NoError(t, err)
			}
			require.Equal(t, v.epoch, want.Epoch())
			require.Equal(t, v.counter, want.Counter())

			require.Equal(t, v.text, want.String())
			text, err := want.MarshalText()
			require.NoError(t, err)
			require.Equal(t, v.text, string(text))
			encoded, err := json.Marshal(want)
			require.NoError(t, err)
			require.Equal(t, v.json, string(encoded))
			binary, err := want.MarshalBinary()
			require.NoError(t, err)
			require.Equal(t, v.binary, binary)
			value, err := want.Value()
			require.NoError(t, err)
			require.Equal(t, v.bigint, value)

			read := func(form string, f func(into *token.Token) error) {
				into := token.Token(77)
				require.NoError(t, f(&into), form)
				require.Equal(t, want, into, form)
			}
			read("text", func(into *token.Token) error { return into.UnmarshalText([]byte(v.text)) })
			read("JSON string", func(into *token.Token) error { return json.Unmarshal([]byte(v.json), into) })
			read("JSON number", func(into *token.Token) error { return json.Unmarshal([]byte(v.text), into) })
			read("binary", func(into *token.Token) error { return into.UnmarshalBinary(v.binary) })
			read("int64", func(into *token.Token) error { return into.Scan(v.bigint) })
			read("uint64", func(into *token.Token) error { return into.Scan(uint64(v.bigint)) })
			read("string", func(into *token.Token) error { return into.Scan(v.text) })
			read("[]byte", func(into *token.Token) error { return into.Scan([]byte(v.text)) })
		})
	}
}
