package pebblestore

import (
	"bytes"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
)

func TestStore(t *testing.T) {
	t.Run("WhatWasCommittedIsThereAfterCloseAndOpen", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "deep", "store")
		s, err := Open(dir, Options{})
		require.NoError(t, err)
		image := imageOf(t, s, 1, 2)
		require.True(t, image.Empty())
		commit(t, image, set("a", "1"), set("b", "2"), set("c", ""))
		commit(t, image, set("a", "3"), del("b"), del("never there"))
		require.False(t, image.Empty())
		require.NoError(t, s.Close())

		s, err = Open(dir, Options{})
		require.NoError(t, err)
		defer s.Close()
		image = imageOf(t, s, 1, 2)
		require.Equal(t, map[string]string{"a": "3", "c": ""}, contents(t, image))
		require.Positive(t, s.DiskBytes())
	})
	t.Run("ImagesOfGroupsAndReplicasDoNotMix", func(t *testing.T) {
		mem := vfs.NewCrashableMem()
		ids := [][2]uint64{{1, 1}, {1, 2}, {2, 1}, {0x100, 1}, {1, 0x100}, {^uint64(0), ^uint64(0)}, {0, 0}}
		s := openAt(t, mem)
		for n, id := range ids {
			image := imageOf(t, s, id[0], id[1])
			require.True(t, image.Empty())
			commit(t, image, set("k", string(rune('a'+n))), set("", "empty key"))
		}
		check := func(s *Store) {
			for n, id := range ids {
				want := map[string]string{"k": string(rune('a' + n)), "": "empty key"}
				require.Equal(t, want, contents(t, imageOf(t, s, id[0], id[1])), "%v", id)
			}
		}
		check(s)
		require.NoError(t, s.Flush())
		check(openAt(t, mem.CrashClone(vfs.CrashCloneCfg{})))

		require.NoError(t, imageOf(t, s, 1, 1).Remove())
		require.NoError(t, imageOf(t, s, 1, 2).Recover(bytes.NewReader(stream(t, imageOf(t, s, 2, 1))), nil))
		require.Equal(t, map[string]string{"k": "c", "": "empty key"}, contents(t, imageOf(t, s, 1, 2)))
		for n, id := range ids[2:] {
			require.Equal(t, string(rune('c'+n)), contents(t, imageOf(t, s, id[0], id[1]))["k"], "%v", id)
		}
	})
	t.Run("OneHandleForOneReplica", func(t *testing.T) {
		s := openAt(t, vfs.NewMem())
		require.Same(t, imageOf(t, s, 1, 1), imageOf(t, s, 1, 1))
		require.NotSame(t, imageOf(t, s, 1, 1), imageOf(t, s, 1, 2))
	})
	t.Run("CloseIsIdempotentAndEndsEverything", func(t *testing.T) {
		s, err := Open(t.TempDir(), Options{})
		require.NoError(t, err)
		image := imageOf(t, s, 1, 1)
		commit(t, image, set("a", "1"))
		sn := image.Prepare()
		require.NoError(t, s.Close())
		require.NoError(t, s.Close())

		require.ErrorIs(t, image.Commit(nil), ErrClosed)
		require.ErrorIs(t, image.Each(nil), ErrClosed)
		require.ErrorIs(t, image.Recover(nil, nil), ErrClosed)
		require.ErrorIs(t, image.Remove(), ErrClosed)
		require.ErrorIs(t, sn.WriteTo(nil, nil), ErrClosed)
		late := image.Prepare()
		require.ErrorIs(t, late.WriteTo(nil, nil), ErrClosed)
		late.Close()
		sn.Close()
		require.ErrorIs(t, s.Flush(), ErrClosed)
		require.False(t, image.Empty())
		require.Zero(t, s.DiskBytes())
		_, err = s.Image(1, 1)
		require.ErrorIs(t, err, ErrClosed)
	})
	t.Run("OpeningManyTimesLeavesNoFilesBehind", func(t *testing.T) {
		dir := t.TempDir()
		files := func() int {
			entries, err := os.ReadDir(dir)
			require.NoError(t, err)
			return len(entries)
		}
		open := func(times int) {
			for n := range times {
				s, err := Open(dir, Options{})
				require.NoError(t, err)
				commit(t, imageOf(t, s, 1, 1), set("a", strings.Repeat("x", n)))
				require.NoError(t, s.Close())
			}
		}
		open(10)
		before := files()
		open(30)
		// Level 0 may hold so many files more; one for each Open is a leak.
		require.LessOrEqual(t, files(), before+level0Depth+level0Files)
	})
	t.Run("CloseRacesWithEveryCall", func(t *testing.T) {
		for range 20 {
			s, err := open(testDir, Options{FS: vfs.NewMem()}, smallMemTable)
			require.NoError(t, err)
			source := imageOf(t, s, 1, 1)
			commit(t, source, set("a", "1"))
			data, replaced := stream(t, source), imageOf(t, s, 1, 2)
			calls := map[string]func() error{
				"Commit":  func() error { return source.Commit([]statemachine.Record{set("a", "2")}) },
				"Each":    func() error { return source.Each(func([]byte, []byte) error { return nil }) },
				"Flush":   s.Flush,
				"Image":   func() error { _, err := s.Image(2, 1); return err },
				"Recover": func() error { return replaced.Recover(bytes.NewReader(data), nil) },
				"Prepare": func() error {
					sn := source.Prepare()
					defer sn.Close()
					return sn.WriteTo(io.Discard, nil)
				},
				"DiskBytes": func() error {
					if s.DiskBytes() == 0 {
						return ErrClosed
					}
					return nil
				},
			}
			ends := make(chan error)
			var begun sync.WaitGroup
			for _, call := range calls {
				begun.Add(1)
				go func() {
					err := call()
					begun.Done()
					for err == nil {
						err = call()
					}
					ends <- err
				}()
			}
			begun.Wait()
			require.NoError(t, s.Close())
			for range calls {
				require.ErrorIs(t, <-ends, ErrClosed)
			}
		}
	})
}

func TestOpenRefusesADirectoryThatIsInUse(t *testing.T) {
	t.Run("InThisProcess", func(t *testing.T) {
		dir := t.TempDir()
		s, err := Open(dir, Options{})
		require.NoError(t, err)
		_, err = Open(dir, Options{})
		require.ErrorIs(t, err, ErrInUse)
		require.ErrorContains(t, err, dir)
		require.NoError(t, s.Close())
		s, err = Open(dir, Options{})
		require.NoError(t, err)
		require.NoError(t, s.Close())
	})
	t.Run("UnderAnotherNameForIt", func(t *testing.T) {
		base := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(base, "real"), 0o755))
		require.NoError(t, os.Symlink("real", filepath.Join(base, "link")))
		// Neither name exists yet below the link.
		s, err := Open(filepath.Join(base, "link", "new", "store"), Options{})
		require.NoError(t, err)
		defer s.Close()
		for _, name := range []string{"real/new/store", "link/new/store", "link/new/../new/store/."} {
			_, err = Open(base+"/"+name, Options{})
			require.ErrorIs(t, err, ErrInUse, name)
		}
	})
	t.Run("OnAFileSystemInMemory", func(t *testing.T) {
		mem := vfs.NewMem()
		openAt(t, mem)
		_, err := Open(testDir, Options{FS: mem})
		require.ErrorIs(t, err, ErrInUse)
	})
	t.Run("InAnotherProcess", func(t *testing.T) {
		if dir := os.Getenv(lockChildEnv); dir != "" {
			_, err := Open(dir, Options{})
			require.ErrorIs(t, err, ErrInUse)
			return
		}
		dir := t.TempDir()
		s, err := Open(dir, Options{})
		require.NoError(t, err)
		defer s.Close()
		child := exec.Command(os.Args[0], "-test.run=^TestOpenRefusesADirectoryThatIsInUse$/^InAnotherProcess$", "-test.v")
		child.Env = append(os.Environ(), lockChildEnv+"="+dir)
		out, err := child.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Contains(t, string(out), "--- PASS: TestOpenRefusesADirectoryThatIsInUse/InAnotherProcess")
	})
	t.Run("ButNotWhenItMayNotBeWritten", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		_, err := Open(filepath.Join(file, "store"), Options{})
		require.Error(t, err)
		require.NotErrorIs(t, err, ErrInUse)
		require.ErrorContains(t, err, file)
	})
}

const lockChildEnv = "PEBBLESTORE_TEST_LOCKED_DIR"

func TestOpenRefusesFormatsItDoesNotKnow(t *testing.T) {
	// made returns a file system with a closed store that change was applied to.
	made := func(t *testing.T, change func(*Store)) vfs.FS {
		mem := vfs.NewMem()
		s, err := Open(testDir, Options{FS: mem})
		require.NoError(t, err)
		commit(t, imageOf(t, s, 1, 1), set("a", "1"))
		change(s)
		require.NoError(t, s.Close())
		return mem
	}
	put := func(key, value []byte) func(*Store) {
		return func(s *Store) {
			require.NoError(t, s.change(func(b *pebble.Batch) error { return b.Set(key, value, nil) }))
		}
	}
	formatKey := []byte{kindFormat}
	for name, c := range map[string]struct {
		change func(*Store)
		is     error
		says   []string
	}{
		"ALaterVersion":           {put(formatKey, formatValue(storeVersion+1)), ErrFormat, []string{"version 2", "version 1"}},
		"AnotherMagic":            {put(formatKey, []byte("SOMETHINGS")), ErrFormat, []string{"version 1"}},
		"ATruncatedFormatRecord":  {put(formatKey, []byte("PALI")), ErrFormat, []string{"version 1"}},
		"AnEmptyFormatRecord":     {put(formatKey, nil), ErrFormat, []string{"version 1"}},
		"ARecordKeyThatIsTooLong": {put([]byte{kindRecord, 1, 2}, nil), ErrCorrupt, []string{"030102"}},
		"AMarkThatIsTooShort":     {put([]byte{kindRemoved, 1}, nil), ErrCorrupt, []string{"0201"}},
		"ANameThatIsTooShort":     {put(replicaKey(kindName, replicaID{1, 1}), []byte{1}), ErrCorrupt, []string{"group 1 replica 1"}},
		"ANameOfImageZero":        {put(replicaKey(kindName, replicaID{1, 1}), make([]byte, 8)), ErrCorrupt, []string{"image 0"}},
		"NoFormatRecord": {func(s *Store) {
			require.NoError(t, s.change(func(b *pebble.Batch) error { return b.Delete(formatKey, nil) }))
		}, ErrFormat, []string{"no format record"}},
	} {
		t.Run(name, func(t *testing.T) {
			mem := made(t, c.change)
			for range 2 { // the first refusal changes nothing
				_, err := Open(testDir, Options{FS: mem})
				require.ErrorIs(t, err, c.is)
				require.ErrorContains(t, err, testDir)
				for _, text := range c.says {
					require.ErrorContains(t, err, text)
				}
			}
		})
	}
	for name, value := range map[string]string{
		"ALaterEngineFormatThatTheEngineKnows":  pebble.FormatNewest.String(),
		"ALaterEngineFormatThatItDoesNotKnow":   "999",
		"AnEngineFormatThatIsNotEvenAPlainText": "xyz",
	} {
		t.Run(name, func(t *testing.T) {
			mem := made(t, func(*Store) {})
			marker, _, err := atomicfs.LocateMarker(mem, testDir, engineFormatMarker)
			require.NoError(t, err)
			require.NoError(t, marker.Move(value))
			require.NoError(t, marker.Close())
			before, err := mem.List(testDir)
			require.NoError(t, err)
			_, err = Open(testDir, Options{FS: mem})
			require.ErrorIs(t, err, ErrFormat)
			require.ErrorContains(t, err, strings.TrimLeft(value, "0"))
			require.ErrorContains(t, err, "21")
			after, err := mem.List(testDir)
			require.NoError(t, err)
			require.ElementsMatch(t, before, after, "a refused directory was touched")
		})
	}
	t.Run("TheEngineFormatIsPinned", func(t *testing.T) {
		// A new engine format is a new format of the store: whoever raises it
		// raises storeVersion's compatibility notes too.
		require.EqualValues(t, 21, engineFormat)
		s := openAt(t, vfs.NewMem())
		require.Equal(t, engineFormat, s.db.FormatMajorVersion())
	})
}

func TestDamagedTablesGiveErrorsAndNoPanic(t *testing.T) {
	mem := vfs.NewCrashableMem()
	s, err := Open(testDir, Options{FS: mem})
	require.NoError(t, err)
	image := imageOf(t, s, 1, 1)
	for n := range 200 {
		commit(t, image, set(string(rune('a'+n%26)), strings.Repeat("v", n)))
	}
	require.NoError(t, s.Close())

	var noticed int
	for _, name := range filesOf(t, mem, ".sst") {
		info, err := mem.Stat(name)
		require.NoError(t, err)
		for at := int64(0); at < info.Size(); at += 7 {
			fs := mem.CrashClone(vfs.CrashCloneCfg{})
			flip(t, fs, name, at)
			got, err := openAndLoad(fs, 1)
			if err != nil {
				noticed++
				require.ErrorContains(t, err, testDir)
				require.ErrorIs(t, err, ErrCorrupt, "byte %d of %s", at, name)
				continue
			}
			require.Len(t, got, 26, "byte %d of %s is wrong and nobody noticed", at, name)
		}
	}
	require.Greater(t, noticed, 20)
}

func openAndLoad(fs vfs.FS, group uint64) (map[string]string, error) {
	s, err := Open(testDir, Options{FS: fs})
	if err != nil {
		return nil, err
	}
	defer s.Close() // fails as well when damage was found
	image, err := s.Image(group, 1)
	if err != nil {
		return nil, err
	}
	return load(image)
}

// filesOf returns the paths of the store's files whose names end so.
func filesOf(t *testing.T, fs vfs.FS, suffix string) []string {
	names, err := fs.List(testDir)
	require.NoError(t, err)
	var paths []string
	for _, name := range names {
		if strings.HasSuffix(name, suffix) {
			paths = append(paths, fs.PathJoin(testDir, name))
		}
	}
	require.NotEmpty(t, paths)
	return paths
}

func flip(t *testing.T, fs vfs.FS, name string, at int64) {
	file, err := fs.OpenReadWrite(name, vfs.WriteCategoryUnspecified)
	require.NoError(t, err)
	one := make([]byte, 1)
	_, err = file.ReadAt(one, at)
	require.NoError(t, err)
	one[0] ^= 0x40
	_, err = file.WriteAt(one, at)
	require.NoError(t, err)
	require.NoError(t, file.Close())
}

func TestLoggerGetsWarningsAndErrorsOnly(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s, err := Open(testDir, Options{FS: vfs.NewMem(), Logger: log})
	require.NoError(t, err)
	commit(t, imageOf(t, s, 1, 1), set("a", "1"))
	require.NoError(t, s.Flush())
	require.NoError(t, s.Close())
	require.Empty(t, out.String(), "normal work is not logged")

	sink := engineLog{dir: "/here", log: log}
	sink.Infof("open %d", 1)
	require.Empty(t, out.String())
	sink.Errorf("bad %d", 2)
	require.Contains(t, out.String(), "level=ERROR")
	require.Contains(t, out.String(), "bad 2")
	require.Contains(t, out.String(), "/here")
	defer func() {
		err, ok := recover().(error)
		require.True(t, ok, "the panic must carry an error")
		require.ErrorContains(t, err, "MANIFEST 3")
		require.ErrorIs(t, err, io.ErrShortWrite)
		require.ErrorContains(t, err, "/here")
	}()
	sink.Fatalf("MANIFEST %d: %s", 3, io.ErrShortWrite)
}
