package main

import (
	"errors"
	"fmt"
	"os"
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
	t.Run("OfManyWritersAtOnceTheGreatestTokenStays", func(t *testing.T) {
		// Each write opens the files anew, so that to the system these are as
		// many owners as processes are.
		const writers, times = 8, 50
		d := documentIn(t.TempDir())
		ended := make(chan error)
		for i := range writers {
			go func() {
				for range times {
					mine := token.Token(i + 1)
					if err := d.write(mine, fmt.Sprint("text of ", mine)); err != nil && !errors.Is(err, token.ErrStale) {
						ended <- err
						return
					}
					if found, err := d.read(); err != nil || found.token < mine {
						ended <- fmt.Errorf("after %s the file has %s: %w", mine, found.token, err)
						return
					}
				}
				ended <- nil
			}()
		}
		var failed []error
		for range writers {
			failed = append(failed, <-ended)
		}
		require.NoError(t, errors.Join(failed...))
		require.Equal(t, edition{writers, fmt.Sprint("text of ", token.Token(writers))}, read(t, d))
	})
}

func read(t *testing.T, d document) edition {
	t.Helper()
	found, err := d.read()
	require.NoError(t, err)
	return found
}
