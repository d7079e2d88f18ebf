package pebblestore

import (
	"archive/tar"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// update rewrites the golden files. A format that changed needs a new version
// and a new file; the old file stays, and must be read for ever.
var update = flag.Bool("update", false, "rewrite testdata/golden")

func goldenPath(name string) string { return filepath.Join("testdata", "golden", name) }

// golden compares got with the golden file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		writeGolden(t, name, got)
	}
	want, err := os.ReadFile(goldenPath(name))
	require.NoError(t, err)
	require.Equal(t, want, got, "the format of %s has changed", name)
}

func writeGolden(t *testing.T, name string, data []byte) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(goldenPath(name)), 0o755))
	require.NoError(t, os.WriteFile(goldenPath(name), data, 0o644))
}

// smallImage is what fillSmallImage makes.
var smallImage = map[string]string{"": "the empty key", "a": "", "b": "2", "\xff\x00": "\x00\x01\x02"}

func fillSmallImage(t *testing.T, image *Image) {
	commit(t, image, set("b", "1"), set("z", "gone"), set("", "the empty key"))
	commit(t, image, set("b", "2"), del("z"), set("a", ""), set("\xff\x00", "\x00\x01\x02"))
}

// fillGoldenStore gives every kind of key to a store.
func fillGoldenStore(t *testing.T, s *Store) {
	image := imageOf(t, s, 0x0102, 3)
	fillSmallImage(t, image)
	require.NoError(t, image.Recover(bytes.NewReader(stream(t, image)), nil))
	commit(t, image, set("b", "3"))
	commit(t, imageOf(t, s, ^uint64(0), 4), set("k", "v"))
	gone := imageOf(t, s, 7, 8)
	commit(t, gone, set("k", "v"))
	require.NoError(t, gone.Remove())
}

// layout returns the keys and values of the store as text.
func layout(t *testing.T, s *Store) []byte {
	var dump bytes.Buffer
	for _, key := range rawKeys(t, s) {
		value, ok, err := s.get(key)
		require.NoError(t, err)
		require.True(t, ok)
		fmt.Fprintf(&dump, "%x -> %x\n", key, value)
	}
	return dump.Bytes()
}

func TestKeyLayoutIsPinned(t *testing.T) {
	s, err := Open(t.TempDir(), Options{})
	require.NoError(t, err)
	defer s.Close()
	fillGoldenStore(t, s)
	golden(t, "layout-v1.txt", layout(t, s))
}

// TestOldStoresAreReadForEver opens a directory as version 1 wrote it, files of
// the engine included. Those differ each time they are written, so -update makes
// the archive only if there is none.
func TestOldStoresAreReadForEver(t *testing.T) {
	const name = "store-v1.tar"
	if _, err := os.Stat(goldenPath(name)); *update && errors.Is(err, fs.ErrNotExist) {
		dir := t.TempDir()
		s, err := Open(dir, Options{})
		require.NoError(t, err)
		fillGoldenStore(t, s)
		require.NoError(t, s.Close())
		var archive bytes.Buffer
		w := tar.NewWriter(&archive)
		require.NoError(t, w.AddFS(os.DirFS(dir)))
		require.NoError(t, w.Close())
		writeGolden(t, name, archive.Bytes())
	}
	dir := t.TempDir()
	unpack(t, goldenPath(name), dir)
	s, err := Open(dir, Options{})
	require.NoError(t, err)
	defer s.Close()
	golden(t, "layout-v1.txt", layout(t, s))
	want := map[string]string{"": "the empty key", "a": "", "b": "3", "\xff\x00": "\x00\x01\x02"}
	require.Equal(t, want, contents(t, imageOf(t, s, 0x0102, 3)))
	_, err = s.Image(7, 8)
	require.ErrorIs(t, err, ErrRemoved)
}

func unpack(t *testing.T, path, dir string) {
	t.Helper()
	archive, err := os.Open(path)
	require.NoError(t, err)
	defer archive.Close()
	for r := tar.NewReader(archive); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		data, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(header.Name)), data, 0o644))
	}
}
