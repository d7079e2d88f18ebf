package coordinator

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
)

func TestATraceTravelsBeforeTheMetadata(t *testing.T) {
	const most = statemachine.MetadataBytesMax
	for _, metadata := range []string{
		"", "text", "\x00", "\x00\x00", "\x00\x05text", "\x00\xff", strings.Repeat("m", most),
		"\x00" + strings.Repeat("m", most-packedHead-1),
	} {
		require.LessOrEqual(t, len(metadata), metadataMax(metadata))
		for _, trace := range []string{"", "t", "\x00", strings.Repeat("t", TraceBytesMax)} {
			packed := pack(trace, metadata)
			require.LessOrEqual(t, len(packed), most)
			gotTrace, gotMetadata := unpack(packed)
			require.Equal(t, metadata, gotMetadata)
			if packedHead+len(trace)+len(metadata) > most {
				trace = "" // the metadata comes first
			}
			require.Equal(t, trace, gotTrace)
		}
	}
	require.Equal(t, "text", pack("", "text"), "as it always was")
	require.Equal(t, "text", pack(strings.Repeat("t", TraceBytesMax+1), "text"))
	require.Equal(t, most, metadataMax(strings.Repeat("m", most)))
	require.Equal(t, most-packedHead, metadataMax("\x00"))
}

func TestMetadataThatWasNotPackedIsShownAsItIs(t *testing.T) {
	for _, stored := range []string{"", "text", "\x00", "\x00\x01", "\x00\x05text"} {
		trace, metadata := unpack(stored)
		require.Empty(t, trace)
		require.Equal(t, stored, metadata)
	}
}
