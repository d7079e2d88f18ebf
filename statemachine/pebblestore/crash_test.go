package pebblestore

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/internal/pebbletest"
	"github.com/palisade-go/palisade/statemachine"
)

var (
	seedFlag   = flag.Uint64("seed", 0, "seed of the random tests; 0 takes the time")
	roundsFlag = flag.Int("rounds", 2, "rounds of the random crash test")
)

// newRand returns a source whose seed is printed when the test fails.
func newRand(t *testing.T, round int) *rand.Rand {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("replay with: go test -run '^%s$' -seed=%d", t.Name(), seed)
	return rand.New(rand.NewPCG(seed, uint64(round)))
}

// openCrash opens what a crash has left.
func openCrash(t *testing.T, crash pebbletest.Crash) *Store {
	t.Helper()
	s, err := open(testDir, Options{FS: crash.FS}, smallMemTable)
	require.NoError(t, err, "after a crash at %s", crash.At)
	return s
}

// onlyNamed checks that no record belongs to an image that is not named, and no
// name or record to a replica that is marked as removed.
func onlyNamed(t *testing.T, s *Store, at string) {
	t.Helper()
	for _, key := range rawKeys(t, s) {
		if key[0] == kindFormat || key[0] == kindRemoved {
			continue
		}
		id, err := parseReplicaKey(key)
		require.NoError(t, err)
		_, removed, err := s.get(replicaKey(kindRemoved, id))
		require.NoError(t, err)
		require.False(t, removed, "%s: key %x of a removed replica", at, key)
		if key[0] == kindRecord {
			_, number, err := parseImagePrefix(key)
			require.NoError(t, err)
			current, err := s.named(id)
			require.NoError(t, err)
			require.Equal(t, current, number, "%s: key %x of an image that is not named", at, key)
		}
	}
}

// rawDiskKeys returns the keys with the prefix that are on disk, before an Open
// cleans up.
func rawDiskKeys(t *testing.T, fs vfs.FS, prefix []byte) [][]byte {
	t.Helper()
	db, err := pebble.Open(testDir, &pebble.Options{FS: fs, ReadOnly: true, Logger: engineLog{log: discardLog()}})
	require.NoError(t, err)
	defer db.Close()
	iter, err := db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: successor(prefix)})
	require.NoError(t, err)
	var keys [][]byte
	for ok := iter.First(); ok; ok = iter.Next() {
		keys = append(keys, bytes.Clone(iter.Key()))
	}
	require.NoError(t, iter.Close())
	return keys
}

// history is a random list of commits to several replicas. Every commit writes
// its own number under "n".
type history struct {
	replicas int
	commits  []commitOf
}

type commitOf struct {
	replica int
	records []statemachine.Record
}

func newHistory(rng *rand.Rand, replicas, commits int) history {
	h := history{replicas: replicas}
	for n := range commits {
		c := commitOf{replica: rng.IntN(replicas), records: []statemachine.Record{set("n", fmt.Sprint(n+1))}}
		for range rng.IntN(8) {
			key := fmt.Sprintf("key-%02d", rng.IntN(40))
			if rng.IntN(3) == 0 {
				c.records = append(c.records, del(key))
				continue
			}
			size := rng.IntN(200)
			switch rng.IntN(40) {
			case 0:
				size = smallMemTable / 2 // a batch that gets a memtable of its own
			case 1:
				size = 2 * smallMemTable // one that exceeds a memtable
			case 2:
				size = smallMemTable / 8
			}
			value := make([]byte, size)
			for i := range value {
				value[i] = byte(rng.Uint32())
			}
			c.records = append(c.records, statemachine.Record{Key: []byte(key), Value: value})
		}
		h.commits = append(h.commits, c)
	}
	return h
}

// after returns the contents of every replica after the first n commits.
func (h history) after(n int) []map[string]string {
	state := make([]map[string]string, h.replicas)
	for i := range state {
		state[i] = map[string]string{}
	}
	for _, c := range h.commits[:n] {
		for _, r := range c.records {
			if r.Value == nil {
				delete(state[c.replica], string(r.Key))
			} else {
				state[c.replica][string(r.Key)] = string(r.Value)
			}
		}
	}
	return state
}

// TestACrashLeavesAPrefixOfTheCommits is invariant 1.
func TestACrashLeavesAPrefixOfTheCommits(t *testing.T) {
	for round := range max(1, *roundsFlag/sample) {
		rng := newRand(t, round)
		cam, dice := pebbletest.NewCamera(testDir, rng), rand.New(rand.NewPCG(rng.Uint64(), 0))
		cam.Only(func(int) bool { return dice.IntN(12*sample) == 0 })
		s, err := open(testDir, Options{FS: cam}, smallMemTable)
		require.NoError(t, err)

		h := newHistory(rng, 3, 300)
		for n, c := range h.commits {
			image := imageOf(t, s, uint64(c.replica), 1)
			cam.Begun.Store(int64(n + 1))
			commit(t, image, c.records...)
			if rng.IntN(25) == 0 {
				cam.Now(fmt.Sprintf("commit %d", n+1))
			}
			if rng.IntN(40) == 0 {
				require.NoError(t, s.Flush())
				cam.Durable.Store(int64(n + 1))
				cam.Now(fmt.Sprintf("flush after commit %d", n+1))
			}
		}
		require.NoError(t, s.Close())
		cam.Durable.Store(int64(len(h.commits)))
		cam.Now("close")

		partial, lost := 0, 0
		cam.Each(t, func(crash pebbletest.Crash) {
			s := openCrash(t, crash)
			defer func() { require.NoError(t, s.Close()) }()
			got := make([]map[string]string, h.replicas)
			prefix := 0
			for i := range got {
				got[i] = contents(t, imageOf(t, s, uint64(i), 1))
				var n int
				_, _ = fmt.Sscan(got[i]["n"], &n)
				prefix = max(prefix, n)
			}
			require.GreaterOrEqual(t, prefix, crash.Low, "crash at %s: durable commits are lost", crash.At)
			require.LessOrEqual(t, prefix, crash.High, crash.At)
			require.True(t, equalStates(h.after(prefix), got), "crash at %s: not the state after commit %d", crash.At, prefix)
			if prefix > crash.Low && prefix < crash.High {
				partial++
			}
			if prefix < crash.High {
				lost++
			}
		})
		// The test must have seen what it is about: crashes that lost commits,
		// and commits that reached the disk by a rotation, without a Flush.
		require.Greater(t, lost, 10/sample)
		require.Greater(t, partial, 3/sample)
	}
}

func equalStates(a, b []map[string]string) bool {
	return fmt.Sprint(a) == fmt.Sprint(b)
}

// TestACrashDuringRecoverLeavesOneWholeImage: a crash at every operation.
func TestACrashDuringRecoverLeavesOneWholeImage(t *testing.T) {
	rng := newRand(t, 0)
	source := openAt(t, vfs.NewMem())
	next := imageOf(t, source, 1, 1)
	want := map[string]string{}
	for n := range 400 { // three batches of a Recover
		key, value := fmt.Sprintf("new-%03d", n), fmt.Sprintf("%03000d", rng.Uint32())
		commit(t, next, set(key, value), set("both", "new"))
		want[key], want["both"] = value, "new"
	}
	good := stream(t, next)

	for _, c := range []struct {
		name    string
		data    []byte
		succeed bool
	}{
		{"OfAGoodStream", good, true},
		{"OfAStreamThatTurnsOutBadAtItsEnd", append(bytes.Clone(good[:len(good)-1]), good[len(good)-1]^1), false},
		{"OfAStreamThatIsCut", good[:len(good)*2/3], false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cam := pebbletest.NewCamera(testDir, rng)
			s, err := open(testDir, Options{FS: cam}, smallMemTable)
			require.NoError(t, err)
			image, other := imageOf(t, s, 1, 1), imageOf(t, s, 1, 2)
			old := []map[string]string{}
			commit(t, image, set("both", "old"), set("old", "0"))
			commit(t, other, set("other", "1"))
			require.NoError(t, s.Flush())
			old = append(old, contents(t, image))
			commit(t, image, set("old", "1"))
			old = append(old, contents(t, image))

			cam.Only(pebbletest.Every(1 + sample/4))
			err = image.Recover(bytes.NewReader(c.data), nil)
			require.Equal(t, c.succeed, err == nil, "%v", err)
			onlyNamed(t, s, "Recover")
			if c.succeed {
				cam.Durable.Store(1)
			}
			cam.Now("after Recover")
			require.NoError(t, s.Flush())
			cam.Now("after the flush that follows")
			require.NoError(t, s.Close())
			require.Greater(t, cam.Pictures(), 20/sample)

			olds, news := 0, 0
			cam.Each(t, func(crash pebbletest.Crash) {
				s := openCrash(t, crash)
				defer func() { require.NoError(t, s.Close()) }()
				onlyNamed(t, s, crash.At)
				got := contents(t, imageOf(t, s, 1, 1))
				require.Equal(t, map[string]string{"other": "1"}, contents(t, imageOf(t, s, 1, 2)))
				switch fmt.Sprint(got) {
				case fmt.Sprint(want):
					news++
					require.True(t, c.succeed, crash.At)
				case fmt.Sprint(old[0]), fmt.Sprint(old[1]):
					olds++
					require.Zero(t, crash.Low, "crash at %s: Recover returned nil and the old image is back", crash.At)
				default:
					t.Fatalf("crash at %s: neither the old nor the new image, but %d records", crash.At, len(got))
				}
				// The store goes on from there.
				image := imageOf(t, s, 1, 1)
				require.NoError(t, image.Recover(bytes.NewReader(good), nil))
				require.Equal(t, want, contents(t, image))
			})
			require.Positive(t, olds)
			require.Equal(t, c.succeed, news > 0)
		})
	}
}

// TestACrashDuringRemoveLeavesTheImageOrTheMark: a crash at every operation.
func TestACrashDuringRemoveLeavesTheImageOrTheMark(t *testing.T) {
	rng := newRand(t, 0)
	cam := pebbletest.NewCamera(testDir, rng)
	s, err := open(testDir, Options{FS: cam}, smallMemTable)
	require.NoError(t, err)
	image, other := imageOf(t, s, 1, 1), imageOf(t, s, 1, 2)
	for n := range 200 {
		commit(t, image, set(fmt.Sprintf("key-%03d", n), fmt.Sprintf("%0500d", n)))
	}
	commit(t, other, set("other", "1"))
	require.NoError(t, s.Flush())
	old := contents(t, image)

	cam.Only(pebbletest.Every(1))
	require.NoError(t, image.Remove())
	require.NoError(t, image.Remove(), "twice is allowed")
	require.Greater(t, cam.Pictures(), 10)
	cam.Durable.Store(1)
	cam.Now("after Remove")
	synced := cam.Synced()
	require.Empty(t, rawDiskKeys(t, synced, replicaKey(kindRecord, image.id)), "Remove returned before the disk was clear")
	require.ErrorIs(t, image.Commit([]statemachine.Record{set("a", "1")}), ErrRemoved)
	require.ErrorIs(t, image.Recover(bytes.NewReader(nil), nil), ErrRemoved)
	require.ErrorIs(t, image.Each(nil), ErrRemoved)
	_, err = s.Image(1, 1)
	require.ErrorIs(t, err, ErrRemoved)
	require.ErrorContains(t, err, "group 1 replica 1")
	onlyNamed(t, s, "after Remove")
	require.NoError(t, s.Close())

	kept, removed := 0, 0
	cam.Each(t, func(crash pebbletest.Crash) {
		for range 2 { // what the first Open resumed, the second finds done
			s := openCrash(t, crash)
			onlyNamed(t, s, crash.At)
			require.Equal(t, map[string]string{"other": "1"}, contents(t, imageOf(t, s, 1, 2)))
			image, err := s.Image(1, 1)
			switch {
			case err == nil:
				kept++
				require.Equal(t, old, contents(t, image), crash.At)
				require.Zero(t, crash.Low, "crash at %s: Remove returned nil and the image is back", crash.At)
			default:
				removed++
				require.True(t, errors.Is(err, ErrRemoved), "crash at %s: %v", crash.At, err)
			}
			require.NoError(t, s.Close())
		}
	})
	require.Positive(t, kept)
	require.Positive(t, removed)
}

// TestACrashDuringOpenIsRepairedByTheNext: the first Open of a directory, and
// one that has everything to clean up, each with a crash at every operation.
func TestACrashDuringOpenIsRepairedByTheNext(t *testing.T) {
	rng := newRand(t, 0)
	t.Run("OfANewDirectory", func(t *testing.T) {
		cam := pebbletest.NewCamera(testDir, rng)
		s, err := open(testDir, Options{FS: cam}, smallMemTable)
		require.NoError(t, err)
		cam.Now("after Open")
		synced := cam.Synced()
		require.Len(t, rawDiskKeys(t, synced, []byte{kindFormat}), 1, "Open returned before the format was on disk")
		require.NoError(t, s.Close())
		cam.Each(t, func(crash pebbletest.Crash) {
			s := openCrash(t, crash)
			require.Equal(t, [][]byte{{kindFormat}}, rawKeys(t, s), crash.At)
			commit(t, imageOf(t, s, 1, 1), set("a", "1"))
			require.NoError(t, s.Close())
			s = openCrash(t, crash)
			require.Equal(t, map[string]string{"a": "1"}, contents(t, imageOf(t, s, 1, 1)))
			require.NoError(t, s.Close())
		})
	})
	t.Run("OfADirectoryWithMuchToCleanUp", func(t *testing.T) {
		cam := pebbletest.NewCamera(testDir, rng)
		leaveBehind(t, testDir, cam, rng)
		cam.Only(pebbletest.Every(1))
		s, err := open(testDir, Options{FS: cam}, smallMemTable)
		require.NoError(t, err)
		cam.Now("after Open")
		synced := cam.Synced()
		require.Empty(t, rawDiskKeys(t, synced, replicaKey(kindRecord, replicaID{9, 9})), "Open returned before the disk was clear")
		require.NoError(t, s.Close())
		cam.Each(t, func(crash pebbletest.Crash) {
			s := openCrash(t, crash)
			cleanedUp(t, s, crash.At)
			require.NoError(t, s.Close())
		})
	})
}

// leaveBehind makes a store with the rest of what crashes have interrupted: two
// unnamed images, and two removals, one without and one with its name.
func leaveBehind(t *testing.T, dir string, fs vfs.FS, rng *rand.Rand) {
	t.Helper()
	s, err := open(dir, Options{FS: fs}, smallMemTable)
	require.NoError(t, err)
	for replica := range uint64(4) {
		image := imageOf(t, s, 1, replica)
		for n := range 30 {
			commit(t, image, set(fmt.Sprintf("key-%02d", n), fmt.Sprintf("%0200d", rng.Uint32())), set("replica", fmt.Sprint(replica)))
		}
	}
	for _, id := range []replicaID{{1, 0}, {9, 9}} {
		image := &Image{store: s, id: id}
		require.NoError(t, image.write(7, []statemachine.Record{set("half", "loaded"), set("of", "it")}))
	}
	require.NoError(t, imageOf(t, s, 1, 1).mark())
	require.NoError(t, imageOf(t, s, 1, 2).mark())
	require.NoError(t, s.change(func(b *pebble.Batch) error { return b.Delete(replicaKey(kindName, replicaID{1, 2}), nil) }))
	require.NoError(t, s.Close())
}

// cleanedUp checks what an Open makes of what leaveBehind left.
func cleanedUp(t *testing.T, s *Store, at string) {
	t.Helper()
	onlyNamed(t, s, at)
	for _, replica := range []uint64{0, 3} {
		got := contents(t, imageOf(t, s, 1, replica))
		require.Len(t, got, 31, at)
		require.Equal(t, fmt.Sprint(replica), got["replica"], at)
	}
	require.True(t, imageOf(t, s, 9, 9).Empty(), at)
	for _, replica := range []uint64{1, 2} {
		_, err := s.Image(1, replica)
		require.ErrorIs(t, err, ErrRemoved, at)
	}
}
