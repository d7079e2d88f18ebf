package httpfence

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

func TestOperationHasThreeForms(t *testing.T) {
	for _, row := range []struct{ text, id string }{
		{`"bill 7"`, "bill 7"},
		{`bill-7`, "bill-7"},
		{`"bill-7"`, "bill-7"},
		{`"a \"quoted\" \\ one"`, `a "quoted" \ one`},
		{`"a,b;c"`, "a,b;c"},
		{`"%41"`, "%41"},
		{`%41`, "%41"},
		{`8e03978e-40d5-43dd-bc93-6894a57f9324`, "8e03978e-40d5-43dd-bc93-6894a57f9324"},
		{`:YmlsbA==:`, ":YmlsbA==:"},
		{`%"f%c3%bcr"`, "für"},
		{`%"plain"`, "plain"},
		{`%"%0a%22%25"`, "\n\"%"},
	} {
		t.Run(row.text, func(t *testing.T) {
			id, err := parseOperation(row.text)
			require.NoError(t, err)
			require.Equal(t, row.id, string(id))
		})
	}
	for _, text := range []string{
		``, `""`, `%""`, `"a`, `"`, `"a"b`, `"a";p=1`, `"a", "b"`, `"a\n"`, `"a\`, `"a\x"`, "\"\x7f\"", "\"ü\"",
		`%"`, `%"a`, `%"%c"`, `%"%C3"`, `%"%zz"`, `%"%`, `%"%4`, `%"a"b`, "%\"\x01\"",
		`a b`, `a,b`, `a;b`, `a"b`, `a\b`, "ü", "a\tb",
	} {
		t.Run("Refused "+text, func(t *testing.T) {
			_, err := parseOperation(text)
			require.ErrorIs(t, err, token.ErrInvalid)
		})
	}
	require.Equal(t, `"plain \"\\"`, formatOperation(`plain "\`))
	require.Equal(t, `%"f%c3%bcr %25%22"`, formatOperation(`für %"`))
	longest := token.Operation(strings.Repeat("\xc3", token.OperationBytesMax))
	id, err := parseOperation(formatOperation(longest))
	require.NoError(t, err, "the longest id in the longest form")
	require.Equal(t, longest, id)
	_, err = parseOperation(formatOperation(longest + "x"))
	require.ErrorIs(t, err, token.ErrInvalid)
}

// FuzzOperation: what is read can be written, and is read again as the same id;
// no text makes the reader do anything else than read or refuse.
func FuzzOperation(f *testing.F) {
	for _, seed := range []string{`"a"`, `a`, `%"%c3%bc"`, `"\\\""`, `"`, `%"%`, `"a";b`, "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, err := parseOperation(text)
		if err != nil {
			require.ErrorIs(t, err, token.ErrInvalid)
			require.Empty(t, id)
		} else {
			require.NotEmpty(t, id)
			if len(id) <= token.OperationBytesMax {
				again, err := parseOperation(formatOperation(id))
				require.NoError(t, err)
				require.Equal(t, id, again)
			}
		}
		if text != "" && len(text) <= token.OperationBytesMax {
			read, err := parseOperation(formatOperation(token.Operation(text)))
			require.NoError(t, err, "every id can be sent")
			require.Equal(t, text, string(read))
			require.True(t, isFieldValue(formatOperation(token.Operation(text))))
		}
	})
}

// isFieldValue says whether a text can stand in a header as it is.
func isFieldValue(text string) bool {
	for i := range len(text) {
		if !printable(text[i]) {
			return false
		}
	}
	return strings.TrimSpace(text) == text
}

// FuzzToken: one header, one spelling.
func FuzzToken(f *testing.F) {
	for _, seed := range []string{"1", "0", "01", " 1", "9223372036854775807", "9223372036854775808", "1, 2", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		read, err := tokenOf(http.Header{TokenHeader: {text}})
		if err != nil {
			require.ErrorIs(t, err, token.ErrInvalid)
			require.Zero(t, read)
			return
		}
		require.True(t, read.Valid())
		require.Equal(t, text, read.String())
	})
}

func TestFingerprintTellsPartsApart(t *testing.T) {
	of := func(method, url, body string) Fingerprint {
		r, err := http.NewRequest(method, url, nil)
		require.NoError(t, err)
		return fingerprintOf(r, []byte(body))
	}
	all := []Fingerprint{
		of("POST", "/a", "b"), of("POST", "/ab", ""), of("POST", "/a?b", ""), of("POST", "/", "ab"), of("PUT", "/a", "b"),
		of("POST", "/a?", "b"), of("POST", "/a%2Fb", ""), of("POST", "/a/b", ""), of("POST", "/a?b", "c"), of("POST", "/a?bc", ""),
	}
	for i, a := range all {
		for j, b := range all[:i] {
			if i == 5 && j == 0 {
				continue // an empty query is none
			}
			require.NotEqual(t, a, b, "%d and %d", i, j)
		}
	}
	require.Equal(t, of("POST", "http://one/a", "b"), of("POST", "http://two/a", "b"), "the way to the service is not in it")
	// What is on disk is compared with it for ever.
	require.Equal(t, "52396ea2", hexOf(of("POST", "/documents/7?now=1", "body")), "the fingerprint has changed")
}

func hexOf(f Fingerprint) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for _, c := range f[:4] {
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
	return b.String()
}
