package raftnode

import (
	"bytes"
	"log"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Nothing in this test binary sets the standard logger up, so it must be what
// the standard library made of it, although the engine is linked.
func TestTheProgramKeepsItsStandardLogger(t *testing.T) {
	require.Same(t, os.Stderr, log.Writer())
	require.Equal(t, log.LstdFlags, log.Flags())
	require.Empty(t, log.Prefix())
}

func TestAWriterThatTheProgramSetIsLeftAlone(t *testing.T) {
	var out bytes.Buffer
	log.SetOutput(&out)
	log.SetFlags(log.Lmicroseconds)
	t.Cleanup(func() {
		log.SetOutput(os.Stderr)
		log.SetFlags(log.LstdFlags)
	})
	giveStandardLoggerBack()
	require.Same(t, &out, log.Writer())
	require.Equal(t, log.Lmicroseconds, log.Flags())
}
