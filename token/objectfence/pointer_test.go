package objectfence

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

// update rewrites the golden files. A format that changed needs a new number and
// a new file; the old file stays, and must be read for ever.
var update = flag.Bool("update", false, "rewrite testdata/golden")

func hexID(n int) string { return fmt.Sprintf("%032x", n) }

// goldenPointers have every field, and as few as there can be.
func goldenPointers() map[string]pointer {
	return map[string]pointer{
		"accepted": {Format: 1, Resource: "invoices", Token: 33, Moves: []string{hexID(1)}},
		"written": {
			Format: 1, Resource: "Rechnungen <für> \"März\"\n", Token: 1<<53 | 7,
			Version: &version{
				Name:  versionName(token.Write{Resource: "Rechnungen <für> \"März\"\n", Token: 1<<53 | 7}, hexID(9)),
				Bytes: 5, SHA256: sumOf([]byte("hello")),
			},
			Operations: []operation{
				{ID: "invoices of 2026-11", Token: 33, Value: []byte{0, 1, 0xff}},
				{ID: "without a value", Token: 1<<53 | 7},
			},
			Moves: []string{hexID(1), hexID(2), hexID(3)},
		},
	}
}

func TestTheFormatIsPinned(t *testing.T) {
	for name, p := range goldenPointers() {
		file := filepath.Join("testdata", "golden", "pointer-v1-"+name+".json")
		data, err := p.encode()
		require.NoError(t, err)
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, data, 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), string(data))
		read, err := decodePointer(want, p.Resource)
		require.NoError(t, err)
		require.Equal(t, p, read)
	}
	require.Equal(t, Name("4b227777d4dd1fc61c6f884f48641d02b4d121d3fd328cb08b5531fcacdabf8a.pointer"), PointerName("4"))
	require.Equal(t, Name("4b227777d4dd1fc61c6f884f48641d02b4d121d3fd328cb08b5531fcacdabf8a.version."), VersionPrefix("4"))
	require.NoError(t, versionName(token.Write{Resource: "4", Token: 1<<63 - 1}, hexID(1)).Check(), "it fits")
}

func TestLimits(t *testing.T) {
	require.EqualValues(t, 64, OperationsDefault)
	require.EqualValues(t, 128, OperationsLimit)
	require.EqualValues(t, 1024, ValueBytesMax)
	require.EqualValues(t, 64<<20, ObjectBytesMax)
	require.EqualValues(t, 512<<10, PointerBytesMax)
	require.EqualValues(t, 200, NameBytesMax)
	require.EqualValues(t, 32, movesMax)
}

// TestTheLargestPointerFits: the text of a control character is six times as
// long.
func TestTheLargestPointerFits(t *testing.T) {
	p := pointer{Format: 1, Resource: strings.Repeat("\x01", token.ResourceBytesMax), Token: 1<<63 - 1}
	p.Version = &version{Name: Name(strings.Repeat("v", NameBytesMax)), Bytes: ObjectBytesMax, SHA256: sumOf(nil)}
	for n := range OperationsLimit {
		id := fmt.Sprintf("%03d", n) + strings.Repeat("\x01", token.OperationBytesMax-3)
		p.Operations = append(p.Operations, operation{token.Operation(id), 1<<63 - 1, make([]byte, ValueBytesMax)})
	}
	for n := range movesMax {
		p = p.after(hexID(n))
	}
	data, err := p.encode()
	require.NoError(t, err)
	require.Greater(t, len(data), PointerBytesMax/2, "the bound is no larger than it has to be")
	read, err := decodePointer(data, p.Resource)
	require.NoError(t, err)
	require.Equal(t, p, read)
}

func TestPointersThatNoGuardWrites(t *testing.T) {
	good := goldenPointers()["written"]
	data, err := good.encode()
	require.NoError(t, err)
	text := string(data)
	for name, bad := range map[string]string{
		"empty":               "",
		"no JSON":             "hello",
		"an array":            "[]",
		"a cut":               text[:len(text)/2],
		"no end":              text[:len(text)-1],
		"something behind":    text + "x",
		"a space":             " " + text,
		"an unknown field":    strings.Replace(text, "{\n", "{\n  \"x\": 1,\n", 1),
		"a field twice":       strings.Replace(text, `  "format": 1,`, "  \"format\": 1,\n  \"format\": 1,", 1),
		"a token as a number": strings.Replace(text, `"token": "33"`, `"token": 33`, 1),
		"no token":            strings.Replace(text, `"token": "9007199254740999",`+"\n  \"version", `"token": "0",`+"\n  \"version", 1),
		"a lower token":       strings.Replace(text, `"token": "9007199254740999",`+"\n  \"version", `"token": "33",`+"\n  \"version", 1),
		"a negative size":     strings.Replace(text, `"bytes": 5`, `"bytes": -5`, 1),
		"a bad hash":          strings.Replace(text, good.Version.SHA256, strings.ToUpper(good.Version.SHA256), 1),
		"a version elsewhere": strings.Replace(text, string(good.Version.Name), "../x", 1),
		"an operation twice":  strings.Replace(text, "without a value", "invoices of 2026-11", 1),
		"an empty operation":  strings.Replace(text, "without a value", "", 1),
		"an empty value":      strings.Replace(text, `"value": "AAH/"`, `"value": ""`, 1),
		"a bad move":          strings.Replace(text, hexID(2), "2", 1),
	} {
		require.NotEqual(t, text, bad, name)
		_, err := decodePointer([]byte(bad), good.Resource)
		require.ErrorIs(t, err, ErrDamaged, name)
	}
	_, err = decodePointer(data, "another")
	require.ErrorIs(t, err, ErrDamaged)
	require.ErrorContains(t, err, "it is that of")
	_, err = decodePointer([]byte(strings.Replace(text, `"format": 1`, `"format": 2`, 1)), good.Resource)
	require.ErrorIs(t, err, ErrFormat)
	require.ErrorContains(t, err, "has format 2, this code knows 1")
	_, err = decodePointer(make([]byte, PointerBytesMax+1), good.Resource)
	require.ErrorIs(t, err, ErrDamaged)
}

func TestMovesAreRememberedUpToTheirBound(t *testing.T) {
	p := pointer{Format: 1, Resource: "r", Token: 5}
	require.Empty(t, p.lastMove())
	require.True(t, p.follows(""))
	for n := range movesMax + 1 {
		before := p
		p = p.after(hexID(n))
		require.Equal(t, hexID(n), p.lastMove())
		require.False(t, before.moved(hexID(n)), "a move alters no pointer before it")
		require.Equal(t, n < movesMax-1, p.follows(""), n)
	}
	require.Len(t, p.Moves, movesMax)
	require.False(t, p.moved(hexID(0)))
	require.True(t, p.moved(hexID(1)))
	require.False(t, p.follows(hexID(0)))
}

func FuzzPointer(f *testing.F) {
	for _, p := range goldenPointers() {
		data, err := p.encode()
		require.NoError(f, err)
		f.Add(data, p.Resource)
	}
	f.Add([]byte(`{"format":1}`), "r")
	f.Fuzz(func(t *testing.T, data []byte, resource string) {
		p, err := decodePointer(data, resource)
		if err != nil {
			require.True(t, strings.Contains(err.Error(), ErrDamaged.Error()) || strings.Contains(err.Error(), ErrFormat.Error()))
			require.Zero(t, p)
			return
		}
		require.True(t, p.Token.Valid())
		require.True(t, utf8.ValidString(p.Resource))
		again, err := p.encode()
		require.NoError(t, err)
		require.Equal(t, data, again)
	})
}

func FuzzETag(f *testing.F) {
	for _, etag := range []string{``, `"x"`, `W/"x"`, `"x`, `"a"b"`, `"a b"`, `x`, `""`} {
		f.Add(etag)
	}
	f.Fuzz(func(t *testing.T, etag string) {
		if err := checkETag(ETag(etag)); err != nil {
			require.ErrorIs(t, err, ErrETag)
			return
		}
		require.NotContains(t, etag, "\n")
		require.NotContains(t, etag, " ")
		require.Equal(t, 2, strings.Count(etag, `"`))
	})
}
