package objectfence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

func openFiles(t testing.TB, dir string) *FileStore {
	t.Helper()
	store, err := OpenFileStore(dir)
	require.NoError(t, err)
	return store
}

func TestOpenFileStoreWantsADirectory(t *testing.T) {
	_, err := OpenFileStore(filepath.Join(t.TempDir(), "nothing"))
	require.ErrorIs(t, err, os.ErrNotExist)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	_, err = OpenFileStore(file)
	require.ErrorContains(t, err, "is not a directory")
}

func TestTheStepsOfAFileStore(t *testing.T) {
	ctx := context.Background()
	disk := &faultDisk{disk: newPowerDisk()}
	store := &FileStore{dir: "dir", disk: disk}
	steps := func(do func()) []string {
		disk.trace = nil
		do()
		return disk.trace
	}
	require.Equal(t, []string{
		"lock", "read a", "create .next", "write .next", "sync .next", "rename .next a", "sync names", "unlock",
	}, steps(func() {
		_, err := store.PutIf(ctx, "a", []byte("first"), Absent)
		require.NoError(t, err)
	}))
	require.Equal(t, []string{"lock", "read a", "unlock"}, steps(func() {
		_, err := store.PutIf(ctx, "a", []byte("second"), Absent)
		require.ErrorIs(t, err, ErrChanged)
	}))
	require.Equal(t, []string{"read a", "sync names"}, steps(func() {
		_, err := store.Get(ctx, "a")
		require.NoError(t, err)
	}), "what a reader has seen must not be lost with the power")
	require.Equal(t, []string{"lock", "remove a", "sync names", "unlock"}, steps(func() {
		require.NoError(t, store.Remove(ctx, "a"))
	}))
}

// TestThePowerFailsAtEveryStep: the object is the old or the new one, whole. It
// is the new one if that was acknowledged, or seen by a reader.
func TestThePowerFailsAtEveryStep(t *testing.T) {
	ctx := context.Background()
	errPower := errors.New("power")
	for _, old := range []string{"", "old"} {
		for _, seen := range []bool{false, true} {
			for n, hit := 1, true; hit; n++ {
				power := newPowerDisk()
				match := Absent
				if old != "" {
					etag, err := (&FileStore{disk: power}).PutIf(ctx, "a", []byte(old), Absent)
					require.NoError(t, err)
					match = etag
				}
				faulty := &faultDisk{disk: power, n: n, then: func() { panic(errPower) }}
				err := errPower
				func() {
					defer func() { _ = recover() }()
					_, err = (&FileStore{disk: faulty}).PutIf(ctx, "a", []byte("new"), match)
				}()
				hit = faulty.hit
				want := []string{old, "new"}
				if err == nil {
					want = []string{"new"}
				}
				if seen {
					object, err := (&FileStore{disk: power}).Get(ctx, "a")
					if err == nil {
						want = []string{string(object.Body)}
					}
				}
				after := &FileStore{disk: power.crash()}
				object, err := after.Get(ctx, "a")
				if !errors.Is(err, ErrNotFound) {
					require.NoError(t, err)
				}
				require.Contains(t, want, string(object.Body), "step %d", n)
				_, err = after.PutIf(ctx, "a", []byte("next"), object.ETag)
				require.NoError(t, err, "it goes on")
			}
		}
	}
}

// TestEveryStepOfAPutIfFails before its effect and after it: the object is the
// old or the new one, whole, and the store goes on.
func TestEveryStepOfAPutIfFails(t *testing.T) {
	ctx := context.Background()
	for _, after := range []bool{false, true} {
		outcomes := map[string]int{}
		for n, hit := 1, true; hit; n++ {
			dir := t.TempDir()
			match, err := openFiles(t, dir).PutIf(ctx, "a", []byte("old"), Absent)
			require.NoError(t, err)
			faulty := &faultDisk{disk: osDisk{dir}, n: n, after: after}
			_, err = (&FileStore{dir: dir, disk: faulty}).PutIf(ctx, "a", []byte("new"), match)
			hit = faulty.hit
			if hit && faulty.trace[n-1] != "unlock" {
				require.ErrorIs(t, err, errDisk, "step %d", n)
				require.NotErrorIs(t, err, ErrChanged)
			} else {
				require.NoError(t, err)
			}
			store := openFiles(t, dir)
			object, getErr := store.Get(ctx, "a")
			require.NoError(t, getErr)
			require.Contains(t, []string{"old", "new"}, string(object.Body))
			if err == nil {
				require.Equal(t, "new", string(object.Body))
			}
			outcomes[fmt.Sprint(string(object.Body), " ", err == nil)]++
			_, err = store.PutIf(ctx, "a", []byte("next"), object.ETag)
			require.NoError(t, err, "it goes on after step %d", n)
		}
		require.Positive(t, outcomes["old false"])
		require.Positive(t, outcomes["new false"], "an outcome that only a reader can tell")
		require.Positive(t, outcomes["new true"])
	}
}

func TestEveryStepOfAGetFails(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	_, err := openFiles(t, dir).PutIf(ctx, "a", []byte("body"), Absent)
	require.NoError(t, err)
	for n := range 2 {
		faulty := &faultDisk{disk: osDisk{dir}, n: n + 1}
		_, err := (&FileStore{dir: dir, disk: faulty}).Get(ctx, "a")
		require.ErrorIs(t, err, errDisk)
	}
}

func TestOneWriterHasTheLock(t *testing.T) {
	dir := t.TempDir()
	store := openFiles(t, dir)
	unlock, locked, err := osDisk{dir}.lock()
	require.NoError(t, err)
	require.True(t, locked)
	_, again, err := osDisk{dir}.lock()
	require.NoError(t, err)
	require.False(t, again)

	ctx, cancel := context.WithCancel(context.Background())
	waits := &faultDisk{disk: store.disk, n: 3, then: cancel}
	_, err = (&FileStore{dir: dir, disk: waits}).PutIf(ctx, "a", []byte("x"), Absent)
	require.Error(t, err)
	require.Equal(t, []string{"lock", "lock", "lock"}, waits.trace, "it tried until the context ended")
	_, err = store.Get(context.Background(), "a")
	require.ErrorIs(t, err, ErrNotFound, "readers need no lock")
	require.NoError(t, unlock())
	_, err = store.PutIf(context.Background(), "a", []byte("x"), Absent)
	require.NoError(t, err)
}

func TestAFileStoreListsItsObjectsAlone(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	store := openFiles(t, dir)
	for _, name := range []Name{"a", "b", "c"} {
		_, err := store.PutIf(ctx, name, nil, Absent)
		require.NoError(t, err)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".next"), nil, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "README"), nil, 0o644))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "directory"), 0o755))
	require.NoError(t, store.Remove(ctx, "b"))
	require.NoError(t, store.Remove(ctx, "b"), "twice is allowed")
	require.ErrorIs(t, store.Remove(ctx, "../b"), token.ErrInvalid)
	names, err := store.List(ctx)
	require.NoError(t, err)
	slices.Sort(names)
	require.Equal(t, []Name{"a", "c"}, names)
	done, cancel := context.WithCancel(ctx)
	cancel()
	_, err = store.List(done)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, store.Remove(done, "a"), context.Canceled)
}

func TestObjectsAreBounded(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	store := openFiles(t, dir)
	_, err := store.PutIf(ctx, "a", make([]byte, ObjectBytesMax+1), Absent)
	require.ErrorIs(t, err, ErrTooLarge)
	_, err = store.Get(ctx, "a")
	require.ErrorIs(t, err, ErrNotFound)
	file, err := os.Create(filepath.Join(dir, "a"))
	require.NoError(t, err)
	require.NoError(t, file.Truncate(ObjectBytesMax+1))
	require.NoError(t, file.Close())
	_, err = store.Get(ctx, "a")
	require.ErrorIs(t, err, ErrTooLarge)
	_, err = store.PutIf(ctx, "a", nil, Absent)
	require.ErrorIs(t, err, ErrTooLarge, "and is not replaced")
}

func TestNamesThatMakeNoFile(t *testing.T) {
	dir := t.TempDir()
	below := filepath.Join(dir, "store")
	require.NoError(t, os.Mkdir(below, 0o755))
	store := openFiles(t, below)
	long := Name(bytes.Repeat([]byte("n"), 201))
	for _, name := range []Name{"../out", "..", ".lock", ".next", "/tmp/out", "a/b", "A", "a\x00b", long} {
		_, err := store.PutIf(context.Background(), name, []byte("x"), Absent)
		require.ErrorIs(t, err, token.ErrInvalid, "%q", name)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	entries, err = os.ReadDir(below)
	require.NoError(t, err)
	require.Len(t, entries, 1, "the lock")
}
