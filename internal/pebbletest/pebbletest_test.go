package pebbletest

import (
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
)

func write(fs vfs.FS, name string, sync bool) error {
	file, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Write([]byte("content")); err != nil || !sync {
		return err
	}
	return file.Sync()
}

func syncRoot(t *testing.T, fs vfs.FS) {
	dir, err := fs.OpenDir("/")
	require.NoError(t, err)
	require.NoError(t, dir.Sync())
	require.NoError(t, dir.Close())
}

func TestACameraPicturesWhatASyncMadeDurableAndWhatItDidNot(t *testing.T) {
	cam := NewCamera("/", rand.New(rand.NewPCG(1, 1)))
	cam.Begun.Store(1)
	require.NoError(t, write(cam, "/synced", true))
	syncRoot(t, cam)
	cam.Durable.Store(1)
	require.Greater(t, cam.Pictures(), 4, "before each operation")
	cam.Only(Every(1000))
	require.Zero(t, cam.Pictures())

	cam.Begun.Store(2)
	require.NoError(t, write(cam, "/lost", false))
	cam.Now("the end")
	require.Equal(t, 2, cam.Pictures())
	without := 0
	cam.Each(t, func(crash Crash) {
		require.Equal(t, []int{1, 2}, []int{crash.Low, crash.High}, crash.At)
		_, err := crash.FS.Stat("/synced")
		require.NoError(t, err)
		if _, err := crash.FS.Stat("/lost"); err != nil {
			without++
		}
	})
	require.Positive(t, without)
	require.Zero(t, cam.Pictures())
	_, err := cam.Synced().Stat("/lost")
	require.Error(t, err)
}

func TestAMarkerWithoutItsManifestIsImpossible(t *testing.T) {
	fs := vfs.NewMem()
	require.False(t, Impossible(fs, "/"), "there is no database")
	require.NoError(t, write(fs, "/marker.manifest.000001.MANIFEST-000001", true))
	require.True(t, Impossible(fs, "/"))
	require.NoError(t, write(fs, "/MANIFEST-000001", true))
	require.False(t, Impossible(fs, "/"))
}

func TestAFaultFailsTheNthOperationOnceOrFromThereOn(t *testing.T) {
	for mode, afterwards := range map[string]error{Once: nil, Ever: syscall.EIO} {
		f := NewFault(3, mode)
		fs := f.On(vfs.NewMem())
		require.NoError(t, write(fs, "/not-armed", true))
		f.Arm()
		require.False(t, f.Hit())
		require.ErrorIs(t, write(fs, "/armed", true), syscall.EIO, "create, write and sync")
		require.True(t, f.Hit())
		require.ErrorIs(t, write(fs, "/afterwards", true), afterwards)
		f.Disarm()
		require.NoError(t, write(fs, "/well", true))
	}
}
