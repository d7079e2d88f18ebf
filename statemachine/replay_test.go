package statemachine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// replayLog returns the bytes of a random log, and what a machine made of it.
func replayLog(t *testing.T, seed int64, entries int) (log [][]byte, events [][]Event, dumps []string) {
	c := newChaos(seed)
	c.floods = false
	m := New(testGenesis)
	for i := range entries {
		b := c.next(m)
		data, err := AppendBatch(nil, b)
		require.NoError(t, err)
		log = append(log, data)
		events = append(events, m.Apply(Index(i+1), b))
		dumps = append(dumps, dump(t, m))
	}
	return log, events, dumps
}

func decode(t *testing.T, data []byte) Batch {
	b, err := DecodeBatch(data)
	require.NoError(t, err)
	return b
}

// TestReplay is invariant 12: equal logs give equal events, dumps and images.
func TestReplay(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	log, events, dumps := replayLog(t, seed, 400)
	machines := []*Machine{New(testGenesis), New(testGenesis), New(testGenesis)}
	images := []map[string]string{{}, {}, {}}
	for i, data := range log {
		for n, m := range machines {
			require.Equal(t, events[i], m.Apply(Index(i+1), decode(t, data)), "seed %d: machine %d, events at index %d", seed, n, i+1)
			require.Equal(t, dumps[i], dump(t, m), "seed %d: machine %d, state at index %d", seed, n, i+1)
			// The second takes its changes less often, which must not
			// show in the end.
			if n != 1 || i%7 == 0 || i == len(log)-1 {
				keepImage(images[n], m.TakeChanges())
			}
		}
	}
	require.Equal(t, images[0], images[1])
	require.Equal(t, images[0], images[2])
	require.Equal(t, imageOf(machines[0]), images[0])
}

// TestSnapshotAtEveryIndex is invariant 13: the image at any index and the
// rest of the log give the same as the whole log.
func TestSnapshotAtEveryIndex(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	log, events, dumps := replayLog(t, seed, 120)
	source := New(testGenesis)
	for from := 0; from <= len(log); from++ {
		m, err := Load(testGenesis, source.Records())
		require.NoError(t, err, "seed %d: load at index %d", seed, from)
		require.Empty(t, m.TakeChanges(), "seed %d: nothing counts as changed after a load", seed)
		require.Equal(t, dump(t, source), dump(t, m), "seed %d: load at index %d", seed, from)
		image := imageOf(m)
		for i := from; i < len(log); i++ {
			require.Equal(t, events[i], m.Apply(Index(i+1), decode(t, log[i])), "seed %d: loaded at %d, events at index %d", seed, from, i+1)
			require.Equal(t, dumps[i], dump(t, m), "seed %d: loaded at %d, state at index %d", seed, from, i+1)
			keepImage(image, m.TakeChanges())
		}
		require.NoError(t, m.Check(), "seed %d: loaded at %d", seed, from)
		require.Equal(t, imageOf(m), image, "seed %d: image from index %d on", seed, from)
		if from < len(log) {
			source.Apply(Index(from+1), decode(t, log[from]))
		}
	}
}

// TestSkippedEntriesMoveOnlyTheIndex: an entry that carries no batch is in the
// index and nowhere else.
func TestSkippedEntriesMoveOnlyTheIndex(t *testing.T) {
	m := New(testGenesis)
	m.TakeChanges()
	before := imageOf(m)
	m.Skip(7)
	require.Equal(t, Index(7), m.Meta().Applied)
	changes := m.TakeChanges()
	require.Len(t, changes, 1)
	require.Equal(t, []byte{byte(recordMeta)}, changes[0].Key)
	delete(before, "\x01")
	after := imageOf(m)
	delete(after, "\x01")
	require.Equal(t, before, after)
}
