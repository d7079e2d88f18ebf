package raftnode

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/lni/dragonboat/v4"
	"github.com/lni/dragonboat/v4/raftpb"
	"github.com/stretchr/testify/require"
)

// marked returns a configuration whose directory has its marks.
func marked(t *testing.T) Config {
	cfg := sound()
	cfg.Dir = filepath.Join(t.TempDir(), "raft")
	require.NoError(t, prepareDirectory(cfg))
	return cfg
}

func readStatus(t testing.TB, dir string) raftpb.RaftDataStatus {
	content, err := readMark(dir, deploymentMark)
	require.NoError(t, err)
	var status raftpb.RaftDataStatus
	require.NoError(t, status.Unmarshal(content))
	return status
}

// TestMarksAreThoseOfTheEngine lets the engine mark a directory by itself and
// compares: but for the host name, and the address that it does not look at
// when nodes are known by ids, both are the same.
func TestMarksAreThoseOfTheEngine(t *testing.T) {
	cfg := sound()
	cfg.Dir = t.TempDir()
	host, err := dragonboat.NewNodeHost(cfg.hostConfig(newListener(nil), &registry{}))
	require.NoError(t, err)
	host.Close()
	own := marked(t)

	engines, ours := readStatus(t, cfg.Dir), readStatus(t, own.Dir)
	require.NotEmpty(t, engines.Hostname)
	require.Empty(t, ours.Hostname)
	engines.Hostname, engines.Address = "", ""
	require.Equal(t, engines, ours)

	engineID, err := os.ReadFile(filepath.Join(cfg.Dir, identityMark))
	require.NoError(t, err)
	ownID, err := os.ReadFile(filepath.Join(own.Dir, identityMark))
	require.NoError(t, err)
	require.Equal(t, engineID, ownID)
}

func TestMarks(t *testing.T) {
	t.Run("AreNotWrittenTwice", func(t *testing.T) {
		cfg := marked(t)
		before, err := os.Stat(filepath.Join(cfg.Dir, deploymentMark))
		require.NoError(t, err)
		require.NoError(t, prepareDirectory(cfg))
		after, err := os.Stat(filepath.Join(cfg.Dir, deploymentMark))
		require.NoError(t, err)
		require.True(t, os.SameFile(before, after))
	})

	t.Run("OfAnotherDeploymentAreRefusedNamingBoth", func(t *testing.T) {
		cfg := marked(t)
		cfg.Deployment = 9
		err := prepareDirectory(cfg)
		require.ErrorIs(t, err, ErrDeployment)
		require.ErrorContains(t, err, "deployment 1")
		require.ErrorContains(t, err, "says 9")
	})

	t.Run("OfAnotherNodeAreRefusedNamingBoth", func(t *testing.T) {
		cfg := marked(t)
		cfg.Node = 2
		err := prepareDirectory(cfg)
		require.ErrorIs(t, err, ErrIdentity)
		require.ErrorContains(t, err, "8000000000000001")
		require.ErrorContains(t, err, "node 2 has 00000000000050008000000000000002")
	})

	t.Run("ThatAreCutOffAnywhereAreDamaged", func(t *testing.T) {
		for _, name := range []string{deploymentMark, identityMark} {
			cfg := marked(t)
			path := filepath.Join(cfg.Dir, name)
			whole, err := os.ReadFile(path)
			require.NoError(t, err)
			for size := range whole {
				require.NoError(t, os.WriteFile(path, whole[:size], 0o600))
				err := prepareDirectory(cfg)
				require.ErrorIs(t, err, ErrDamaged, "%d bytes", size)
				require.ErrorContains(t, err, path)
			}
		}
	})

	t.Run("WithAFlippedBitAreDamaged", func(t *testing.T) {
		for _, name := range []string{deploymentMark, identityMark} {
			cfg := marked(t)
			path := filepath.Join(cfg.Dir, name)
			whole, err := os.ReadFile(path)
			require.NoError(t, err)
			for i := range whole {
				whole[i] ^= 1
				require.NoError(t, os.WriteFile(path, whole, 0o600))
				require.ErrorIs(t, prepareDirectory(cfg), ErrDamaged, "byte %d", i)
				whole[i] ^= 1
			}
		}
	})

	t.Run("AreWholeOrAbsentAfterACrashInTheFirstStart", func(t *testing.T) {
		cfg := marked(t)
		path := filepath.Join(cfg.Dir, identityMark)
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		// The crash came while the draft was written, before the rename.
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.WriteFile(path+".new", whole[:3], 0o600))
		require.NoError(t, prepareDirectory(cfg))
		again, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, whole, again)
	})

	t.Run("ThatAreMissingAreNotAnError", func(t *testing.T) {
		_, err := readMark(t.TempDir(), deploymentMark)
		require.ErrorIs(t, err, fs.ErrNotExist)
	})
}
