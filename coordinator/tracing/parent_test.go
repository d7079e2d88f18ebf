package tracing

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"

	"github.com/palisade-go/palisade/coordinator"
)

func TestParentIsTheTraceparentOfTheW3C(t *testing.T) {
	const text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" // the example of the standard
	require.LessOrEqual(t, len(text), coordinator.TraceBytesMax)
	c, ok := parseParent(text)
	require.True(t, ok)
	require.True(t, c.IsRemote())
	require.True(t, c.IsSampled())
	require.Equal(t, text, parentOf(trace.ContextWithSpanContext(context.Background(), c)))
	require.Empty(t, parentOf(context.Background()))

	notSampled, ok := parseParent(text[:len(text)-1] + "0")
	require.True(t, ok)
	require.False(t, notSampled.IsSampled())
}

func TestWhatIsNoParent(t *testing.T) {
	for _, text := range []string{
		"", "-", "---", "text",
		"01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",   // another version
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x", // more than version 0 has
		"00-00000000000000000000000000000000-b7ad6b7169203331-01",
		"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
		"00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333-01",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0101",
		"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
	} {
		_, ok := parseParent(text)
		require.False(t, ok, text)
	}
}
