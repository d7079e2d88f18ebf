package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

func TestDocument(t *testing.T) {
	t.Run("ALateWriteChangesNothing", func(t *testing.T) {
		d := &document{guard: token.NewGuard().Do}
		require.NoError(t, d.write(2, "new"))
		require.ErrorIs(t, d.write(1, "late"), token.ErrStale)
		require.Equal(t, "new", d.read())
	})
	t.Run("TheOwnerMayWriteAgain", func(t *testing.T) {
		d := &document{guard: token.NewGuard().Do}
		require.NoError(t, d.write(2, "draft"))
		require.NoError(t, d.write(2, "edition"))
		require.Equal(t, "edition", d.read())
	})
}

func TestWriteLateIsNotContentWithOtherRefusals(t *testing.T) {
	s := &story{document: &document{guard: token.NewGuard().Do}}
	require.NoError(t, s.document.write(2, "new"))
	require.NoError(t, s.writeLate(1))
	require.ErrorContains(t, s.writeLate(0), "should be stale")
}
