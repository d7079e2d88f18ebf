package diskspace

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheLimitsAreTheOnesStated(t *testing.T) {
	require.EqualValues(t, 268_435_456, Needed, "256 MiB to open and to take on anything new")
	require.EqualValues(t, 335_544_320, Enough, "320 MiB to be taken for healthy again")
}

func TestLevel(t *testing.T) {
	type step struct {
		free           uint64
		short, changed bool
	}
	var l Level
	for i, s := range []step{
		{free: Needed},
		{free: Needed - 1, short: true, changed: true},
		{free: 0, short: true},
		{free: Needed, short: true},
		{free: Enough - 1, short: true},
		{free: Enough, changed: true},
		{free: Needed},
		{free: Needed - 1, short: true, changed: true},
	} {
		short, changed := l.See(s.free)
		require.Equal(t, s.short, short, "step %d", i)
		require.Equal(t, s.changed, changed, "step %d", i)
		needed := uint64(Needed)
		if short {
			needed = Enough
		}
		require.Equal(t, needed, l.NeededBytes(), "step %d", i)
	}
}

func TestErrorNamesDirectoryAndBytes(t *testing.T) {
	var err error = &Error{Dir: "some/where", FreeBytes: 17, NeededBytes: Needed}
	require.Equal(t, "too little disk space: some/where has 17 bytes free and needs 268435456", err.Error())
	require.ErrorIs(t, fmt.Errorf("open: %w", err), ErrShort)
	require.NotErrorIs(t, err, errors.New("too little disk space"))
}
