package raftlog

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

	"github.com/lni/dragonboat/v4/raftpb"
	"github.com/stretchr/testify/require"
)

// update rewrites the golden files. A format that changed needs a new version
// and a new file; the old file stays, and must be read for ever.
var updateGolden = flag.Bool("update", false, "rewrite testdata/golden")

func goldenPath(name string) string { return filepath.Join("testdata", "golden", name) }

// fillGolden gives every kind of record to a store.
func fillGolden(t *testing.T, s *Store) {
	t.Helper()
	require.NoError(t, s.SaveBootstrapInfo(1, 1, raftpb.Bootstrap{Addresses: map[uint64]string{1: "a:1"}, Type: raftpb.OnDiskStateMachine}))
	list := entries(3, 1, 5)
	list[1] = raftpb.Entry{Term: 3, Index: 2, Type: raftpb.ConfigChangeEntry, Key: 1 << 60, ClientID: 7, SeriesID: 8, RespondedTo: 9, Cmd: []byte{0, 255}}
	list[2].Cmd = nil
	save(t, s, update(raftpb.State{Term: 3, Vote: 2, Commit: 4}, list...))
	saveSnapshot(t, s, snapshotAt(2, 3))
	require.NoError(t, s.RemoveEntriesTo(1, 1, 1))
	imported := snapshotAt(9, 4)
	imported.ShardID = 0x0102030405060708
	require.NoError(t, s.ImportSnapshot(imported, 0xfffefdfcfbfaf9f8))
}

// layout returns the keys and values of the store as text.
func layout(t *testing.T, s *Store) []byte {
	t.Helper()
	iter, err := s.db.NewIter(nil)
	require.NoError(t, err)
	var out bytes.Buffer
	for ok := iter.First(); ok; ok = iter.Next() {
		fmt.Fprintf(&out, "%x -> %x\n", iter.Key(), iter.Value())
	}
	require.NoError(t, iter.Close())
	return out.Bytes()
}

func requireGolden(t *testing.T, s *Store) {
	t.Helper()
	want, err := os.ReadFile(goldenPath("layout-v1.txt"))
	require.NoError(t, err)
	require.Equal(t, string(want), string(layout(t, s)), "the format has changed")
}

func TestGoldenKeyLayoutIsPinned(t *testing.T) {
	s, err := open(t.TempDir(), Options{}, memTableBytes)
	require.NoError(t, err)
	defer s.Close()
	fillGolden(t, s)
	if *updateGolden {
		require.NoError(t, os.MkdirAll(goldenPath(""), 0o755))
		require.NoError(t, os.WriteFile(goldenPath("layout-v1.txt"), layout(t, s), 0o644))
	}
	requireGolden(t, s)
}

// TestGoldenStoresAreReadForEver opens a directory as version 1 wrote it, files of
// pebble included. Those differ each time they are written, so -update makes the
// archive only if there is none.
func TestGoldenStoresAreReadForEver(t *testing.T) {
	archive := goldenPath("store-v1.tar")
	if _, err := os.Stat(archive); *updateGolden && errors.Is(err, fs.ErrNotExist) {
		dir := t.TempDir()
		s, err := open(dir, Options{}, memTableBytes)
		require.NoError(t, err)
		fillGolden(t, s)
		require.NoError(t, s.Close())
		var out bytes.Buffer
		w := tar.NewWriter(&out)
		require.NoError(t, w.AddFS(os.DirFS(filepath.Join(dir, DirName))))
		require.NoError(t, w.Close())
		require.NoError(t, os.WriteFile(archive, out.Bytes(), 0o644))
	}
	dir := t.TempDir()
	unpack(t, archive, filepath.Join(dir, DirName))
	s, err := open(dir, Options{}, memTableBytes)
	require.NoError(t, err)
	defer s.Close()
	requireGolden(t, s)
	require.Equal(t, raftpb.State{Term: 3, Vote: 2, Commit: 4}, stateOf(t, s, 2).State)
	require.Len(t, read(t, s, 2, 9), 4)
	nodes, err := s.ListNodeInfo()
	require.NoError(t, err)
	require.Len(t, nodes, 2)
}

func unpack(t *testing.T, path, dir string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
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
