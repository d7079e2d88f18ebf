package main

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

func TestDocument(t *testing.T) {
	t.Run("AStaleTokenIsRefusedAndChangesNothing", func(t *testing.T) {
		d := documentIn(t.TempDir())
		require.NoError(t, d.write(7, "new"))
		err := d.write(6, "old")
		var stale *token.StaleError
		require.ErrorAs(t, err, &stale)
		require.Equal(t, token.Token(6), stale.Given)
		require.Equal(t, token.Token(7), stale.Highest)
		require.Equal(t, edition{7, "new"}, read(t, d))
	})
	t.Run("OneOwnerMayWriteAgain", func(t *testing.T) {
		d := documentIn(t.TempDir())
		require.NoError(t, d.write(7, "once"))
		require.NoError(t, d.write(7, "twice\nin two lines"))
		require.Equal(t, edition{7, "twice\nin two lines"}, read(t, d))
	})
	t.Run("NobodyWritesWithoutAToken", func(t *testing.T) {
		d := documentIn(t.TempDir())
		require.ErrorIs(t, d.write(0, "text"), token.ErrInvalid)
		require.Equal(t, edition{}, read(t, d))
	})
	t.Run("WithoutTheTokenOfTheLastWriteNothingIsWritten", func(t *testing.T) {
		d := documentIn(t.TempDir())
		require.NoError(t, os.WriteFile(d.path, []byte("not a token\ntext"), 0o600))
		require.ErrorIs(t, d.write(7, "new"), token.ErrInvalid)
	})
	t.Run("WhileOneWritesNobodyElseDoes", func(t *testing.T) {
		d := documentIn(t.TempDir())
		require.NoError(t, syscall.Mkfifo(d.path, 0o600))
		wrote := make(chan error, 1)
		go func() { wrote <- d.write(7, "new") }()
		// The other end of a pipe opens when the writer reads what is there:
		// from then on it is between its check and its write.
		before, err := os.OpenFile(d.path, os.O_WRONLY, 0)
		require.NoError(t, err)
		other, err := os.Open(d.path + ".turn")
		require.NoError(t, err)
		defer other.Close()
		require.ErrorIs(t, syscall.Flock(int(other.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
		_, err = before.WriteString("6\nold")
		require.NoError(t, errors.Join(err, before.Close()))
		require.NoError(t, <-wrote)
		require.NoError(t, syscall.Flock(int(other.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), "it is the next one's turn")
		require.Equal(t, edition{7, "new"}, read(t, d))
	})
}

func read(t *testing.T, d document) edition {
	t.Helper()
	found, err := d.read()
	require.NoError(t, err)
	return found
}
