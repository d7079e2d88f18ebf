package pebblefence

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/internal/pebbletest"
)

// TestACrashLeavesFenceDataAndOperationTogether: a crash before every operation
// of the file system that changes something, in New and in each step.
func TestACrashLeavesFenceDataAndOperationTogether(t *testing.T) {
	all := states(t)
	cam := pebbletest.NewCamera(testDir, newRand(t))
	db, err := openSmall(testDir, cam)
	require.NoError(t, err)
	cam.Only(pebbletest.Every(sample))
	g, err := stepsGuard(db)
	require.NoError(t, err)
	for n, step := range steps() {
		cam.Begun.Store(int64(n + 1))
		require.NoError(t, step(g))
		cam.Durable.Store(int64(n + 1))
		cam.Now(fmt.Sprintf("after step %d", n+1))
	}
	require.NoError(t, db.Close())
	crashes, before, after := 0, 0, 0
	cam.Each(t, func(crash pebbletest.Crash) {
		crashes++
		db, err := openSmall(testDir, crash.FS)
		require.NoError(t, err, crash.At)
		found := checkLeft(t, db, all, crash.Low, crash.High, crash.At)
		if crash.Low < crash.High && found == crash.Low {
			before++
		}
		if crash.Low < crash.High && found == crash.High {
			after++
		}
		require.NoError(t, db.Close())
	})
	t.Logf("%d crashes; within a step: %d left what was before it, %d what came after", crashes, before, after)
	require.Greater(t, crashes, 60/sample)
	require.Greater(t, before, 10/sample)
	if sample == 1 {
		require.Positive(t, after, "no crash kept what was not acknowledged")
	}
}
