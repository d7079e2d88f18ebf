package diskstore

import (
	"bufio"
	"encoding/hex"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/httpfence"
	"github.com/palisade-go/palisade/token/httpfence/internal/storetest"
)

var update = flag.Bool("update", false, "write the golden file anew")

// goldens are keys and values of the format, by name.
func goldens() (names []string, bytes map[string][]byte) {
	bytes = map[string][]byte{}
	add := func(name string, key, value []byte) {
		names = append(names, name)
		bytes[name+" key"], bytes[name] = key, value
	}
	sealed := func(name string, key, value []byte) { add(name, key, seal(key, value)) }
	add("format", formatKey(), formatValue())
	sealed("fence", fenceKey("/documents/7"), fence{highest: 34, first: 2, next: 9}.encode())
	sealed("fence-of-none", fenceKey("a"), fence{first: 1, next: 1}.encode())
	for name, r := range map[string]*httpfence.Record{
		"begun": storetest.Begun(33, 7), "answered": storetest.Answered(1<<62+1, 8), "omitted": storetest.Omitted(34, 9),
	} {
		sealed(name, operationKey("/documents/7", "bill of ü"), record{number: 3, Record: *r}.encode())
	}
	add("number", numberKey("/documents/7", 258), []byte("bill of ü"))
	return []string{"format", "fence", "fence-of-none", "begun", "answered", "omitted", "number"}, bytes
}

const goldenFile = "testdata/golden/version1.txt"

func TestGoldenRecordsAreWrittenAndReadExactly(t *testing.T) {
	names, made := goldens()
	if *update {
		var b strings.Builder
		fmt.Fprintf(&b, "# Version 1, key and value in hexadecimal. Never regenerate what was released.\n")
		for _, name := range names {
			fmt.Fprintf(&b, "%s %x %x\n", name, made[name+" key"], made[name])
		}
		require.NoError(t, os.WriteFile(goldenFile, []byte(b.String()), 0o600))
	}
	file, err := os.Open(goldenFile)
	require.NoError(t, err)
	defer file.Close()
	seen := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		columns := strings.Fields(lines.Text())
		require.Len(t, columns, 3)
		name := columns[0]
		key, err := hex.DecodeString(columns[1])
		require.NoError(t, err)
		value, err := hex.DecodeString(columns[2])
		require.NoError(t, err)
		require.Equal(t, made[name+" key"], key, name)
		require.Equal(t, made[name], value, name)
		seen++
		switch name {
		case "format":
			require.NoError(t, checkFormat(value))
		case "fence":
			value, err = unseal(key, value)
			require.NoError(t, err)
			f, err := decodeFence(value)
			require.NoError(t, err)
			require.Equal(t, fence{highest: 34, first: 2, next: 9}, f)
		case "begun", "answered", "omitted":
			want := map[string]*httpfence.Record{
				"begun": storetest.Begun(33, 7), "answered": storetest.Answered(1<<62+1, 8), "omitted": storetest.Omitted(34, 9),
			}[name]
			value, err = unseal(key, value)
			require.NoError(t, err)
			r, err := decodeRecord(value)
			require.NoError(t, err)
			require.Equal(t, record{number: 3, Record: *want}, r)
		}
	}
	require.Equal(t, len(names), seen)
}

func TestRecordThatIsNoneIsRefused(t *testing.T) {
	good := record{number: 1, Record: *storetest.Answered(5, 1)}.encode()
	at := func(i int, bytes ...byte) []byte {
		changed := append([]byte(nil), good...)
		copy(changed[i:], bytes)
		return changed
	}
	const state, status, count = 48, 49, 51
	for name, value := range map[string][]byte{
		"NumberZero":           at(0, 0, 0, 0, 0, 0, 0, 0, 0),
		"TokenZero":            at(8, 0, 0, 0, 0, 0, 0, 0, 0),
		"TokenOf64Bits":        at(8, 0xff),
		"AnUnknownState":       at(state, 3),
		"AStatusThatIsNone":    at(status, 0, 100),
		"AStatusOfFourDigits":  at(status, 0xff, 0xff),
		"MoreFieldsThanThere":  at(count, 0xff, 0xff, 0xff, 0xff),
		"ANameLongerThanThere": at(count+4, 0xff, 0xff, 0xff, 0xff),
		"NamesOutOfOrder":      at(count+8, 'Z'),
		"BytesAfterBegun":      append(record{number: 1, Record: *storetest.Begun(5, 1)}.encode(), 0),
		"BytesAfterOmitted":    append(record{number: 1, Record: *storetest.Omitted(5, 1)}.encode(), 0),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decodeRecord(value)
			require.ErrorIs(t, err, ErrDamaged)
		})
	}
	for name, value := range map[string][]byte{
		"ShortFence": make([]byte, 23), "FirstZero": fence{highest: 1, first: 0, next: 1}.encode(),
		"NextBelowFirst": fence{highest: 1, first: 2, next: 1}.encode(),
		"NoToken":        fence{highest: 1 << 63, first: 1, next: 1}.encode(),
	} {
		_, err := decodeFence(value)
		require.ErrorIs(t, err, ErrDamaged, name)
	}
}

// FuzzRecord: whatever the bytes, they are refused, or a record that is written
// back as the same bytes.
func FuzzRecord(f *testing.F) {
	for _, r := range []*httpfence.Record{storetest.Begun(1, 1), storetest.Answered(2, 2), storetest.Omitted(3, 3)} {
		f.Add(record{number: 7, Record: *r}.encode())
	}
	empty := storetest.Begun(1, 1)
	empty.Answer = &httpfence.Answer{Status: 204, Header: http.Header{}}
	f.Add(record{number: 1, Record: *empty}.encode())
	f.Fuzz(func(t *testing.T, value []byte) {
		r, err := decodeRecord(value)
		if err != nil {
			require.ErrorIs(t, err, ErrDamaged)
			require.Zero(t, r)
			return
		}
		require.Equal(t, value, r.encode())
		require.True(t, r.Token.Valid())
	})
}

// FuzzFence is the same for fences.
func FuzzFence(f *testing.F) {
	f.Add(fence{highest: 5, first: 1, next: 3}.encode())
	f.Add(fence{first: 1, next: 1}.encode())
	f.Fuzz(func(t *testing.T, value []byte) {
		decoded, err := decodeFence(value)
		if err != nil {
			require.ErrorIs(t, err, ErrDamaged)
			return
		}
		require.Equal(t, value, decoded.encode())
		require.True(t, decoded.highest == 0 || decoded.highest.Valid())
		_ = token.Token(decoded.highest)
	})
}
