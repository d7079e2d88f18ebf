package pebblefence

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

// update rewrites the golden file. A format that changed needs a new version
// and a new file; the old file stays, and must be read for ever.
var update = flag.Bool("update", false, "rewrite testdata/golden")

var goldenFile = filepath.Join("testdata", "golden", "records-v1.txt")

// fillGolden leaves every kind of record.
func fillGolden(t *testing.T, db *pebble.DB) {
	g, err := New(Config{DB: db, Prefix: testPrefix, OperationsMax: 2})
	require.NoError(t, err)
	copy(g.id, "the guard's id..")
	require.NoError(t, db.Set(g.keys.guard(), g.id, pebble.Sync))
	for n, w := range []token.Write{
		{Resource: "invoices", Token: 33, Operation: "forgotten"},
		{Resource: "invoices", Token: 33, Operation: "invoices of 2026-11"},
		{Resource: "invoices", Token: 34, Operation: "Rechnungen für März"},
		{Resource: "a", Token: 1<<53 | 7},
	} {
		value := fmt.Sprint(n)
		if n == 1 {
			value = "" // as put returns one
		}
		_, err := g.Do(context.Background(), w, put("data", value))
		require.NoError(t, err)
	}
	require.NoError(t, g.Accept(context.Background(), token.Write{Resource: "invoices", Token: 40}))
}

func TestTheFormatIsPinned(t *testing.T) {
	db := openDB(t, vfs.NewMem())
	fillGolden(t, db)
	iter, err := db.NewIter(&pebble.IterOptions{LowerBound: testPrefix, UpperBound: successor(testPrefix)})
	require.NoError(t, err)
	var text bytes.Buffer
	for ok := iter.First(); ok; ok = iter.Next() {
		fmt.Fprintf(&text, "%x -> %x\n", iter.Key()[len(testPrefix):], iter.Value())
	}
	require.NoError(t, iter.Close())
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(goldenFile), 0o755))
		require.NoError(t, os.WriteFile(goldenFile, text.Bytes(), 0o644))
	}
	want, err := os.ReadFile(goldenFile)
	require.NoError(t, err)
	require.Equal(t, string(want), text.String())
}

func TestOldRecordsAreReadForEver(t *testing.T) {
	db := openDB(t, vfs.NewMem())
	file, err := os.Open(goldenFile)
	require.NoError(t, err)
	defer file.Close()
	records := 0
	for lines := bufio.NewScanner(file); lines.Scan(); records++ {
		left, right, found := strings.Cut(lines.Text(), " -> ")
		require.True(t, found)
		key, err := hex.DecodeString(left)
		require.NoError(t, err)
		value, err := hex.DecodeString(right)
		require.NoError(t, err)
		// Under another prefix too: the prefix is not in the checksums.
		require.NoError(t, db.Set(append([]byte("moved/"), key...), value, pebble.Sync))
	}
	require.Equal(t, 8, records)
	g, err := New(Config{DB: db, Prefix: []byte("moved/")})
	require.NoError(t, err)
	ctx := context.Background()
	for resource, want := range map[string]token.Token{"invoices": 40, "a": 1<<53 | 7} {
		highest, err := g.Highest(ctx, resource)
		require.NoError(t, err)
		require.Equal(t, want, highest)
	}
	for operation, want := range map[token.Operation]token.Receipt{
		"invoices of 2026-11": {Token: 33, Value: []byte("wrote "), Repeated: true},
		"Rechnungen für März": {Token: 34, Value: []byte("wrote 2"), Repeated: true},
	} {
		got, err := g.Do(ctx, token.Write{Resource: "invoices", Token: 5, Operation: operation}, put("data", "again"))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	forgotten, err := g.Forget(ctx, "invoices", 0)
	require.NoError(t, err)
	require.Equal(t, 2, forgotten)
}
