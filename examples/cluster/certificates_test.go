package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMakeCertificates(t *testing.T) {
	t.Run("EachNodeGetsItsOwn", func(t *testing.T) {
		dir := t.TempDir()
		require.NoError(t, makeCertificates(dir))
		for _, id := range members {
			files := certificatesIn(dir, id)
			require.NoError(t, files.Check(clusterName, uint64(id)))
			require.Error(t, files.Check(clusterName, uint64(id)%3+1), "the certificate of node %d is not that of another", id)
			require.Error(t, files.Check("another", uint64(id)))
		}
	})
	t.Run("ThoseThatAreThereStay", func(t *testing.T) {
		dir := t.TempDir()
		require.NoError(t, makeCertificates(dir))
		before := authorityIn(t, dir)
		require.NoError(t, makeCertificates(dir))
		require.Equal(t, before, authorityIn(t, dir))
	})
	t.Run("AllWhoMakeThemAtOnceFindTheSame", func(t *testing.T) {
		dir := t.TempDir()
		found := make(chan string)
		const makers = 5
		for range makers {
			go func() {
				err := makeCertificates(dir)
				text, _ := os.ReadFile(certificatesIn(dir, 1).CAFile)
				if err != nil {
					text = []byte(err.Error())
				}
				found <- string(text)
			}()
		}
		var all []string
		for range makers {
			all = append(all, <-found)
		}
		for _, text := range all {
			require.Equal(t, authorityIn(t, dir), text)
		}
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, entries, 1, "what the others made is removed")
	})
	t.Run("ADirectoryThatCantBeMadeIsAnError", func(t *testing.T) {
		file := t.TempDir() + "/file"
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		require.Error(t, makeCertificates(file))
	})
}

func authorityIn(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(certificatesIn(dir, 1).CAFile)
	require.NoError(t, err)
	return string(text)
}
