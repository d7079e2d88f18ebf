package raftnode

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	sm "github.com/lni/dragonboat/v4/statemachine"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/statemachine/pebblestore"
)

// alone returns the replica of group 1 without an engine, and its Sink.
func alone(t *testing.T) (*replica, *recorder) {
	store, err := pebblestore.Open("store", pebblestore.Options{FS: vfs.NewMem()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	sink := newRecorder()
	r, err := openReplica(aloneConfig(store, sink), 1, time.Second)
	require.NoError(t, err)
	close(r.cleared)
	return r, sink
}

func aloneConfig(store *pebblestore.Store, sink Sink) Config {
	return Config{
		Node: 1, Incarnation: 1, Store: store, Clock: clock.System{},
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Sink:   func(statemachine.GroupID) Sink { return sink },
		Genesis: func(group statemachine.GroupID) statemachine.Genesis {
			return statemachine.Genesis{Group: group, Members: []statemachine.NodeID{1, 2, 3}}
		},
	}
}

// acquisition is the entry at an index in which node 1 acquires a key.
func acquisition(t *testing.T, index uint64, key string) sm.Entry {
	data, err := statemachine.AppendBatch(nil, statemachine.Batch{
		Node: 1, Incarnation: 1, Number: statemachine.BatchNumber(index), Speaks: statemachine.Binary,
		Commands: []statemachine.Command{statemachine.Acquire{
			Seq: statemachine.Seq(index), TTL: time.Minute,
			Claims: []statemachine.Claim{{Key: key, Mode: statemachine.Exclusive}},
		}},
	})
	require.NoError(t, err)
	return sm.Entry{Index: index, Cmd: data}
}

func dumpOf(t *testing.T, r *replica) string {
	var dump bytes.Buffer
	r.view(func(m *statemachine.Machine) { require.NoError(t, m.Dump(&dump)) })
	return dump.String()
}

func TestUpdate(t *testing.T) {
	t.Run("AnswersEveryEntryAndTellsTheSinkInOrder", func(t *testing.T) {
		r, sink := alone(t)
		entries, err := r.Update([]sm.Entry{
			acquisition(t, 3, "a"), {Index: 5, Cmd: []byte("garbage")}, acquisition(t, 9, "b"),
		})
		require.NoError(t, err)
		for _, e := range entries {
			require.Equal(t, sm.Result{Value: 1}, e.Result)
		}
		require.Len(t, sink.entries, 2)
		require.Equal(t, statemachine.Index(3), sink.entries[0].index)
		require.Equal(t, statemachine.Index(9), sink.entries[1].index)
		require.EqualValues(t, 9, r.counters.applied.Load())
		require.EqualValues(t, 1, r.counters.entriesSkipped.Load())
	})

	t.Run("TellsTheSinkOnlyWhatTheStoreHas", func(t *testing.T) {
		r, sink := alone(t)
		ordered := &storeFirst{recorder: sink, t: t, replica: r}
		r.voice.sink = ordered
		for index := uint64(1); index <= 10; index++ {
			_, err := r.Update([]sm.Entry{acquisition(t, index, "k")})
			require.NoError(t, err)
		}
		require.Equal(t, 10, ordered.compared)
	})

	t.Run("FailsOnlyWithTheStoreAndThenTellsNothing", func(t *testing.T) {
		r, sink := alone(t)
		require.NoError(t, r.store.Close())
		_, err := r.Update([]sm.Entry{acquisition(t, 1, "a")})
		require.ErrorIs(t, err, pebblestore.ErrClosed)
		require.ErrorContains(t, err, "group 1")
		require.Empty(t, sink.entries)
	})

	t.Run("ResumesFromTheImage", func(t *testing.T) {
		fs := vfs.NewMem()
		store, err := pebblestore.Open("store", pebblestore.Options{FS: fs})
		require.NoError(t, err)
		r, err := openReplica(aloneConfig(store, newRecorder()), 1, time.Second)
		require.NoError(t, err)
		for index := uint64(1); index <= 20; index++ {
			_, err := r.Update([]sm.Entry{acquisition(t, index, "k")})
			require.NoError(t, err)
		}
		dump := dumpOf(t, r)
		require.NoError(t, r.Sync())
		require.NoError(t, store.Close())

		store, err = pebblestore.Open("store", pebblestore.Options{FS: fs})
		require.NoError(t, err)
		defer store.Close()
		sink := newRecorder()
		r, err = openReplica(aloneConfig(store, sink), 1, time.Second)
		require.NoError(t, err)
		close(r.cleared)
		index, err := r.Open(nil)
		require.NoError(t, err)
		require.EqualValues(t, 20, index)
		require.Equal(t, dump, dumpOf(t, r))
		require.Len(t, sink.installed, 1)
		require.Equal(t, statemachine.Index(20), sink.installed[0].Index)
		require.Len(t, sink.installed[0].Leases, 1)
	})
}

// storeFirst compares, in each call, the store with what is told.
type storeFirst struct {
	*recorder
	t        *testing.T
	replica  *replica
	compared int
}

func (s *storeFirst) Applied(index statemachine.Index, events []statemachine.Event) {
	stored, err := s.replica.load()
	require.NoError(s.t, err)
	require.Equal(s.t, index, stored.Meta().Applied)
	s.compared++
	s.recorder.Applied(index, events)
}

func TestOpenOfAReplicaWaitsUntilItIsClearedOrStopped(t *testing.T) {
	r, _ := alone(t)
	r.cleared = make(chan struct{})
	stop := make(chan struct{})
	close(stop)
	_, err := r.Open(stop)
	require.ErrorIs(t, err, sm.ErrOpenStopped)
}

func TestSnapshotOfAReplica(t *testing.T) {
	filled := func(t *testing.T) *replica {
		r, _ := alone(t)
		for index := uint64(1); index <= 50; index++ {
			_, err := r.Update([]sm.Entry{acquisition(t, index, "k")})
			require.NoError(t, err)
		}
		return r
	}
	save := func(t *testing.T, r *replica) []byte {
		prepared, err := r.PrepareSnapshot()
		require.NoError(t, err)
		var stream bytes.Buffer
		require.NoError(t, r.SaveSnapshot(prepared, &stream, nil))
		return stream.Bytes()
	}

	t.Run("MakesAnotherReplicaEqual", func(t *testing.T) {
		from := filled(t)
		to, sink := alone(t)
		require.NoError(t, to.RecoverFromSnapshot(bytes.NewReader(save(t, from)), nil))
		require.Equal(t, dumpOf(t, from), dumpOf(t, to))
		require.Equal(t, from.counters.applied.Load(), to.counters.applied.Load())
		require.EqualValues(t, 1, to.counters.snapshotsInstalled.Load())
		require.Len(t, sink.installed, 1)
		require.Equal(t, statemachine.Index(50), sink.installed[0].Index)
	})

	t.Run("IsTheStateAtPrepare", func(t *testing.T) {
		from := filled(t)
		dump := dumpOf(t, from)
		prepared, err := from.PrepareSnapshot()
		require.NoError(t, err)
		_, err = from.Update([]sm.Entry{acquisition(t, 51, "later")})
		require.NoError(t, err)
		var stream bytes.Buffer
		require.NoError(t, from.SaveSnapshot(prepared, &stream, nil))
		to, _ := alone(t)
		require.NoError(t, to.RecoverFromSnapshot(&stream, nil))
		require.Equal(t, dump, dumpOf(t, to))
	})

	t.Run("OfAGroupBeforeItsFirstEntryIsEmpty", func(t *testing.T) {
		from, _ := alone(t)
		to, _ := alone(t)
		require.NoError(t, to.RecoverFromSnapshot(bytes.NewReader(save(t, from)), nil))
		require.Equal(t, dumpOf(t, from), dumpOf(t, to))
		_, err := to.Update([]sm.Entry{acquisition(t, 1, "k")})
		require.NoError(t, err)
	})

	t.Run("StopsWhenToldInTheEnginesWords", func(t *testing.T) {
		from := filled(t)
		stream := save(t, from)
		stop := make(chan struct{})
		close(stop)
		prepared, err := from.PrepareSnapshot()
		require.NoError(t, err)
		require.Equal(t, sm.ErrSnapshotStopped, from.SaveSnapshot(prepared, io.Discard, stop))
		to, sink := alone(t)
		before := dumpOf(t, to)
		require.Equal(t, sm.ErrSnapshotStopped, to.RecoverFromSnapshot(bytes.NewReader(stream), stop))
		require.Equal(t, before, dumpOf(t, to))
		require.Empty(t, sink.installed)
	})

	t.Run("PassesTheEnginesOwnWriteErrorOn", func(t *testing.T) {
		prepared, err := filled(t).PrepareSnapshot()
		require.NoError(t, err)
		from := filled(t)
		err = from.SaveSnapshot(prepared, failingWriter{}, nil)
		require.ErrorIs(t, err, sm.ErrSnapshotStreaming, "otherwise the engine ends the process over a broken connection")
	})

	t.Run("ThatIsDamagedLeavesTheReplicaAsItWas", func(t *testing.T) {
		stream := save(t, filled(t))
		stream[len(stream)/2] ^= 1
		to := filled(t)
		before := dumpOf(t, to)
		err := to.RecoverFromSnapshot(bytes.NewReader(stream), nil)
		require.ErrorIs(t, err, pebblestore.ErrCorrupt)
		require.Equal(t, before, dumpOf(t, to))
		require.Zero(t, to.counters.snapshotsInstalled.Load())
	})
}

// failingWriter is a snapshot connection that broke.
type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, sm.ErrSnapshotStreaming }

func TestLookupIsNotTheWayToRead(t *testing.T) {
	r, _ := alone(t)
	_, err := r.Lookup(nil)
	require.Error(t, err)
}

func TestRecordsReportWhatEndsThem(t *testing.T) {
	store, err := pebblestore.Open(filepath.Join(t.TempDir(), "store"), pebblestore.Options{})
	require.NoError(t, err)
	image, err := store.Image(1, 1)
	require.NoError(t, err)
	require.NoError(t, image.Commit([]statemachine.Record{
		{Key: []byte("a"), Value: []byte("1")}, {Key: []byte("b"), Value: []byte("2")},
	}))
	var failed error
	for range records(image, &failed) {
		break // ending early is no failure
	}
	require.NoError(t, failed)
	require.NoError(t, store.Close())
	for range records(image, &failed) {
		require.Fail(t, "a closed store has no records")
	}
	require.True(t, errors.Is(failed, pebblestore.ErrClosed))
}
