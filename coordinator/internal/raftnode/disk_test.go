package raftnode

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/diskspace"
)

func TestTheDiskIsLookedAtMoreOftenTheLessIsFree(t *testing.T) {
	for free, want := range map[uint64]time.Duration{
		0:                250 * time.Millisecond,
		diskspace.Needed: 250 * time.Millisecond,
		1 << 29:          250 * time.Millisecond,
		1 << 30:          500 * time.Millisecond,
		2 << 30:          time.Second,
		1 << 62:          time.Second,
	} {
		require.Equal(t, want, lookAgain(free), "%d bytes", free)
	}
	const writer = 1 << 30 // bytes a second
	for free := uint64(diskspace.Needed); free < 4<<30; free += 1 << 20 {
		used := uint64(lookAgain(free).Seconds() * writer)
		require.GreaterOrEqual(t, free, used, "all is used up before the next look")
	}
}
