package pebblefence

import (
	"bytes"
	"context"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

func TestEveryProblemOfAConfigIsReportedAtOnce(t *testing.T) {
	_, err := New(Config{OperationsMax: -1})
	require.ErrorIs(t, err, token.ErrInvalid)
	for _, says := range []string{"DB is nil", "Prefix has 0 bytes, not 1 to 255", "OperationsMax is -1, not 0 to 1000000"} {
		require.ErrorContains(t, err, says)
	}
	db := openDB(t, vfs.NewMem())
	before := dump(t, db)
	_, err = New(Config{DB: db, Prefix: make([]byte, 256), OperationsMax: 1_000_001})
	require.ErrorContains(t, err, "Prefix has 256 bytes")
	require.ErrorContains(t, err, "OperationsMax is 1000001")
	require.Equal(t, before, dump(t, db), "nothing was written")
}

func TestLimitsAndDefaults(t *testing.T) {
	require.EqualValues(t, 255, PrefixBytesMax)
	require.EqualValues(t, 1000, OperationsDefault)
	require.EqualValues(t, 1_000_000, OperationsLimit)
	require.EqualValues(t, 65536, ValueBytesMax)
	db := openDB(t, vfs.NewMem())
	for _, config := range []Config{
		{DB: db, Prefix: []byte{0}},
		{DB: db, Prefix: bytes.Repeat([]byte{0xff}, PrefixBytesMax), OperationsMax: OperationsLimit},
	} {
		g, err := New(config)
		require.NoError(t, err)
		w := token.Write{Resource: "r", Token: 5, Operation: "o"}
		_, err = g.Do(context.Background(), w, put("k", "v"))
		require.NoError(t, err)
		highest, err := g.Highest(context.Background(), "r")
		require.NoError(t, err)
		require.EqualValues(t, 5, highest)
	}
}

func TestThePrefixIsCopied(t *testing.T) {
	prefix := []byte("fence/")
	g, err := New(Config{DB: openDB(t, vfs.NewMem()), Prefix: prefix})
	require.NoError(t, err)
	prefix[0] = 'x'
	require.NoError(t, g.Accept(context.Background(), token.Write{Resource: "r", Token: 5}))
	require.NotEmpty(t, read(t, g.store.db, string(newKeyspace(testPrefix).fence("r"))))
}
