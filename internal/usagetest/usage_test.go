package usagetest

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheHeapIsCounted(t *testing.T) {
	const size = 64 << 20
	before := Heap()
	kept := make([]byte, size)
	require.InDelta(t, size, Heap()-before, size/8)
	runtime.KeepAlive(kept)
	require.InDelta(t, before, Heap(), size/8)
}

func TestWorkTakesProcessorTime(t *testing.T) {
	before := Processor()
	for Processor() == before { // the system counts in steps
		runtime.GC()
	}
	require.Greater(t, Processor(), before)
}
