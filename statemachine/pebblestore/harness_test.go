package pebblestore

import (
	"bytes"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
)

const testDir = "/node/machines"

// smallMemTable makes the engine rotate its memtables often.
const smallMemTable = 64 << 10

func set(key, value string) statemachine.Record {
	return statemachine.Record{Key: []byte(key), Value: []byte(value)}
}

func del(key string) statemachine.Record {
	return statemachine.Record{Key: []byte(key)}
}

func commit(t testing.TB, image *Image, records ...statemachine.Record) {
	t.Helper()
	require.NoError(t, image.Commit(records))
}

// contents returns the records of the image.
func contents(t testing.TB, image *Image) map[string]string {
	t.Helper()
	got, err := load(image)
	require.NoError(t, err)
	return got
}

func load(image *Image) (map[string]string, error) {
	got := map[string]string{}
	err := image.Each(func(key, value []byte) error {
		got[string(key)] = string(value)
		return nil
	})
	return got, err
}

func openAt(t testing.TB, fs vfs.FS) *Store {
	t.Helper()
	s, err := open(testDir, Options{FS: fs}, smallMemTable)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func imageOf(t testing.TB, s *Store, group, replica uint64) *Image {
	t.Helper()
	image, err := s.Image(group, replica)
	require.NoError(t, err)
	return image
}

// stream returns the image in the stream format.
func stream(t testing.TB, image *Image) []byte {
	t.Helper()
	sn := image.Prepare()
	defer sn.Close()
	var out bytes.Buffer
	require.NoError(t, sn.WriteTo(&out, nil))
	return out.Bytes()
}

// rawKeys returns every key of the store.
func rawKeys(t testing.TB, s *Store) [][]byte {
	t.Helper()
	iter, err := s.db.NewIter(nil)
	require.NoError(t, err)
	var keys [][]byte
	for ok := iter.First(); ok; ok = iter.Next() {
		keys = append(keys, bytes.Clone(iter.Key()))
	}
	require.NoError(t, iter.Close())
	return keys
}
