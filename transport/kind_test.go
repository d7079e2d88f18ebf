package transport_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

func TestKind(t *testing.T) {
	require.EqualValues(t, 1, transport.Messages, "part of the wire format")
	require.EqualValues(t, 2, transport.Chunks, "part of the wire format")
	require.Equal(t, "messages", transport.Messages.String())
	require.Equal(t, "chunks", transport.Chunks.String())
	require.Equal(t, "kind 9", transport.Kind(9).String())
	for kind := range 256 {
		require.Equal(t, kind == 1 || kind == 2, transport.Kind(kind).Valid())
	}
}
