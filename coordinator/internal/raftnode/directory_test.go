package raftnode

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLinkHost(t *testing.T) {
	t.Run("MakesALinkAndKeepsIt", func(t *testing.T) {
		dir := t.TempDir()
		for range 2 {
			require.NoError(t, linkHost(dir, "app-0"))
			target, err := os.Readlink(filepath.Join(dir, "app-0"))
			require.NoError(t, err)
			require.Equal(t, replicasDir, target)
		}
	})

	t.Run("RemovesTheLinkOfAFormerName", func(t *testing.T) {
		dir := t.TempDir()
		require.NoError(t, linkHost(dir, "app-0"))
		require.NoError(t, linkHost(dir, "app-1"))
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, entries, 1)
		require.Equal(t, "app-1", entries[0].Name())
	})

	t.Run("ReplacesALinkToElsewhere", func(t *testing.T) {
		dir := t.TempDir()
		require.NoError(t, os.Symlink("/", filepath.Join(dir, "app-0")))
		require.NoError(t, linkHost(dir, "app-0"))
		target, err := os.Readlink(filepath.Join(dir, "app-0"))
		require.NoError(t, err)
		require.Equal(t, replicasDir, target)
	})

	t.Run("LeavesOtherFilesAlone", func(t *testing.T) {
		dir := t.TempDir()
		other := filepath.Join(dir, "other")
		require.NoError(t, os.WriteFile(other, nil, 0o600))
		require.NoError(t, linkHost(dir, "app-0"))
		require.FileExists(t, other)
	})

	t.Run("RefusesADirectoryInThePlaceOfTheLink", func(t *testing.T) {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, "app-0"), 0o700))
		require.ErrorIs(t, linkHost(dir, "app-0"), ErrDamaged)
	})

	t.Run("RefusesNamesThatCannotBeALink", func(t *testing.T) {
		for _, host := range []string{"", ".", "..", "a/b", `a\b`, "LOCK", "lock", "NodeHost.ID", "dragonboat.ds", "Replicas"} {
			require.ErrorIs(t, checkHostName(host), ErrHostName, "%q", host)
		}
		require.NoError(t, checkHostName("app-0"))
	})
}
