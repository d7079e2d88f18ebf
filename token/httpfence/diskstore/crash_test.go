package diskstore

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/internal/pebbletest"
	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/httpfence"
	"github.com/palisade-go/palisade/token/httpfence/internal/storetest"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the crash test; 0 takes the time")

// save is one Save of the workload.
type save struct {
	resource string
	change   httpfence.Change
}

// operationsMax is the bound of the workload's stores.
const operationsMax = 3

// workload is what a guard saves for some requests at two resources: it begins,
// it answers, it forgets, and the oldest are pushed out.
func workload() []save {
	var saves []save
	for i := range 12 {
		resource, operation, t := fmt.Sprint("resource-", i%2), token.Operation(fmt.Sprint("op-", i)), token.Token(1+i)
		begin := httpfence.Change{Highest: t, Operation: operation, Record: storetest.Begun(t, byte(i))}
		saves = append(saves, save{resource, begin})
		switch i % 4 {
		case 0, 1:
			saves = append(saves, save{resource, httpfence.Change{Operation: operation, Record: storetest.Answered(t, byte(i))}})
		case 2:
			saves = append(saves, save{resource, httpfence.Change{Operation: operation}})
		}
	}
	return saves
}

// states are what can be loaded after each number of saves of the workload,
// as a store in memory has it.
func states(t *testing.T) []map[string]httpfence.Kept {
	t.Helper()
	m, err := httpfence.NewMemory(httpfence.MemoryConfig{OperationsMax: operationsMax})
	require.NoError(t, err)
	all := []map[string]httpfence.Kept{state(t, m)}
	for _, s := range workload() {
		require.NoError(t, m.Save(context.Background(), s.resource, s.change))
		all = append(all, state(t, m))
	}
	for i := range all[1:] {
		require.NotEqual(t, all[i], all[i+1], "save %d changes something", i)
	}
	return all
}

// state is all that can be loaded of the workload.
func state(t *testing.T, store httpfence.Store) map[string]httpfence.Kept {
	t.Helper()
	got := map[string]httpfence.Kept{}
	for _, s := range workload() {
		kept, err := store.Load(context.Background(), s.resource, s.change.Operation)
		require.NoError(t, err)
		got[s.resource+" "+string(s.change.Operation)] = kept
	}
	return got
}

// requireState checks that what a store has is the state after at least low and
// at most high saves, and returns after how many.
func requireState(t *testing.T, store httpfence.Store, low, high int, at string) int {
	t.Helper()
	got, all := state(t, store), states(t)
	for n := low; n <= high; n++ {
		if fmt.Sprint(dump(got)) == fmt.Sprint(dump(all[n])) {
			require.Equal(t, all[n], got)
			return n
		}
	}
	t.Fatalf("%s: not the state after %d to %d saves: %v", at, low, high, dump(got))
	return 0
}

// dump is a short form of a state.
func dump(s map[string]httpfence.Kept) []string {
	var lines []string
	for _, w := range workload() {
		kept := s[w.resource+" "+string(w.change.Operation)]
		line := fmt.Sprintf("%s %s %s", w.resource, w.change.Operation, kept.Highest)
		if kept.Record != nil {
			line += fmt.Sprintf(" %s answered %v", kept.Record.Token, kept.Record.Answer != nil)
		}
		lines = append(lines, line)
	}
	return lines
}

// TestACrashLeavesEachSaveWholeOrNotAtAll crashes before every operation that
// changes the disk, with nothing and with a random part of what was not synced.
func TestACrashLeavesEachSaveWholeOrNotAtAll(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("replay with: go test -run '^%s$' -seed=%d", t.Name(), seed)
	cam := pebbletest.NewCamera(testDir, rand.New(rand.NewPCG(seed, 1)))
	s, err := Open(testDir, Config{OperationsMax: operationsMax, fs: cam})
	require.NoError(t, err)
	cam.Only(pebbletest.Every(1)) // Open made its directory durable
	for i, w := range workload() {
		cam.Begun.Add(1)
		require.NoError(t, s.Save(context.Background(), w.resource, w.change), "save %d", i)
		cam.Durable.Add(1)
		cam.Now("after a save")
	}
	require.NoError(t, s.Close())

	crashes, seen := 0, map[int]bool{}
	cam.Each(t, func(crash pebbletest.Crash) {
		crashes++
		after, err := Open(testDir, Config{OperationsMax: operationsMax, fs: crash.FS})
		require.NoError(t, err, crash.At)
		seen[requireState(t, after, crash.Low, crash.High, crash.At)] = true
		// It goes on from there.
		require.NoError(t, after.Save(context.Background(), "resource-0", httpfence.Change{Highest: 100}))
		require.NoError(t, after.Close())
	})
	require.Len(t, seen, len(workload())+1, "a crash after each save, and before the first")
	require.Greater(t, crashes, 4*len(workload()))
}

// TestEveryFailureOfTheDiskIsReportedAndNothingIsHalf fails the Nth operation of
// the disk that a Save needs, for every N until a run passes untouched, once and
// from there on.
func TestEveryFailureOfTheDiskIsReportedAndNothingIsHalf(t *testing.T) {
	for _, ever := range []bool{false, true} {
		t.Run(fmt.Sprintf("FromThereOn=%v", ever), func(t *testing.T) {
			failures := 0
			for n := int64(1); ; n++ {
				mem := vfs.NewMem()
				var armed, hit atomic.Bool
				var count atomic.Int64
				fs := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
					if !armed.Load() || op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
						return nil
					}
					if c := count.Add(1); c == n || ever && c > n {
						hit.Store(true)
						return syscall.EIO
					}
					return nil
				}))
				s, err := Open(testDir, Config{OperationsMax: operationsMax, fs: fs})
				require.NoError(t, err)
				armed.Store(true)
				acknowledged, begun := 0, 0
				for _, w := range workload() {
					begun++
					if err = s.Save(context.Background(), w.resource, w.change); err != nil {
						break
					}
					acknowledged++
				}
				armed.Store(false)
				if !hit.Load() {
					require.NoError(t, err)
					require.NoError(t, s.Close())
					require.Positive(t, failures, "nothing was tested")
					return
				}
				failures++
				require.ErrorIs(t, err, ErrFailed)
				require.ErrorIs(t, err, syscall.EIO)
				// What can be read now need not be on disk: nothing is.
				_, err = s.Load(context.Background(), "resource-0", "")
				require.ErrorIs(t, err, ErrFailed)
				require.ErrorIs(t, s.Save(context.Background(), "resource-0", httpfence.Change{Highest: 99}), ErrFailed)
				if closeErr := s.Close(); closeErr != nil {
					require.True(t, errors.Is(closeErr, syscall.EIO), "%v", closeErr)
				}
				after, err := Open(testDir, Config{OperationsMax: operationsMax, fs: mem})
				require.NoError(t, err)
				requireState(t, after, acknowledged, begun, fmt.Sprint("failure ", n))
				require.NoError(t, after.Close())
			}
		})
	}
}

// TestEveryFailureUnderTheFirstOpenIsAnError: the next Open finds an empty store.
// Later ones flush in the engine's background, where a failure ends the process.
func TestEveryFailureUnderTheFirstOpenIsAnError(t *testing.T) {
	failures := 0
	for n := int64(1); ; n++ {
		mem := vfs.NewMem()
		var count atomic.Int64
		fs := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind.ReadOrWrite() == errorfs.OpIsWrite && count.Add(1) == n {
				return syscall.EIO
			}
			return nil
		}))
		s, err := Open(testDir, Config{fs: fs})
		reached := count.Load() >= n
		if err == nil {
			if closeErr := s.Close(); closeErr != nil {
				require.ErrorIs(t, closeErr, syscall.EIO)
			}
		} else {
			failures++
			require.ErrorIs(t, err, syscall.EIO)
			require.ErrorContains(t, err, testDir)
		}
		after := openStore(t, testDir, Config{fs: mem})
		requireState(t, after, 0, 0, fmt.Sprint("failure ", n))
		require.NoError(t, after.Close())
		if !reached {
			require.NoError(t, err)
			require.Greater(t, failures, 3, "nothing was tested")
			return
		}
	}
}
