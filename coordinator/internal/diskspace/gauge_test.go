package diskspace

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestFree(t *testing.T) {
	dir := t.TempDir()

	t.Run("LiesBetweenNothingAndTheSizeOfTheFileSystem", func(t *testing.T) {
		var stat unix.Statfs_t
		require.NoError(t, unix.Statfs(dir, &stat))
		free, err := Free(dir)
		require.NoError(t, err)
		require.NotZero(t, free)
		require.LessOrEqual(t, free, stat.Blocks*fragmentBytes(&stat))
	})
	t.Run("OfAMissingDirectoryIsThatOfItsNearestParent", func(t *testing.T) {
		_, err := Free(filepath.Join(dir, "not", "there", "yet"))
		require.NoError(t, err)
		require.NoDirExists(t, filepath.Join(dir, "not"))
		_, err = Free(filepath.Join("not", "there", "yet"))
		require.NoError(t, err)
	})
	t.Run("OfADirectoryBelowAFileIsAnErrorThatNamesIt", func(t *testing.T) {
		file := filepath.Join(dir, "file")
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		_, err := Free(filepath.Join(file, "below"))
		require.ErrorIs(t, err, syscall.ENOTDIR)
		var at *fs.PathError
		require.ErrorAs(t, err, &at)
		require.Equal(t, filepath.Join(file, "below"), at.Path)
	})
}

func TestAvailable(t *testing.T) {
	require.EqualValues(t, 12, available(5, 3, 4))
	require.EqualValues(t, 0, available(5, 0, 4), "full")
	require.EqualValues(t, uint64(math.MaxUint64), available(0, 0, 4096), "a size that is not told")
	require.EqualValues(t, uint64(math.MaxUint64), available(math.MaxUint64, math.MaxUint64, 4096), "no overflow")
}

func TestCheck(t *testing.T) {
	free := func(bytes uint64, err error) Gauge {
		return func(dir string) (uint64, error) {
			require.Equal(t, "dir", dir)
			return bytes, err
		}
	}
	require.NoError(t, Check(free(Needed, nil), "dir"))
	var short *Error
	require.ErrorAs(t, Check(free(Needed-1, nil), "dir"), &short)
	require.Equal(t, Error{Dir: "dir", FreeBytes: Needed - 1, NeededBytes: Needed}, *short)
	unknown := errors.New("no answer")
	require.ErrorIs(t, Check(free(0, unknown), "dir"), unknown)
}

func BenchmarkFree(b *testing.B) {
	dir := b.TempDir()
	for range b.N {
		if _, err := Free(dir); err != nil {
			b.Fatal(err)
		}
	}
}
