package history_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/coordinator/locktest/history"
	"github.com/palisade-go/palisade/token"
)

// file is a resource that checks tokens.
type file struct {
	guard token.Guard
	mu    sync.Mutex
	text  string
}

func (f *file) write(t token.Token, text string) func() error {
	return func() error {
		return f.guard.Do("file", t, func() error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.text = text
			return nil
		})
	}
}

func (f *file) read() (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text, nil
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// A real cluster under contention, of which a node dies and comes back.
func TestARunOfARealClusterKeepsTheContract(t *testing.T) {
	c := locktest.New(t, 3)
	recorder := history.NewRecorder()
	var f file
	var done sync.WaitGroup
	work := func(n, worker int) {
		defer done.Done()
		node := c.Node(n).Coordinator()
		client := recorder.Client(node)
		random := rand.New(rand.NewPCG(uint64(n), uint64(worker)))
		for i := range 12 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			turn(ctx, t, client, &f, random, fmt.Sprintf("%d.%d.%d", n, worker, i))
			cancel()
		}
	}
	for n := 1; n <= 2; n++ {
		for worker := range 4 {
			done.Add(1)
			go work(n, worker)
		}
	}
	lost, err := recorder.Client(c.Node(3).Coordinator()).Acquire(within(t, time.Minute), "file")
	require.NoError(t, err)
	require.True(t, lost.Held())
	c.Node(3).Kill()
	c.Node(3).Restart()
	done.Wait()

	records := recorder.Records()
	require.NoError(t, history.Check(records, time.Minute))
	seen := map[history.Kind]map[history.Outcome]int{}
	for _, r := range records {
		if seen[r.Kind] == nil {
			seen[r.Kind] = map[history.Outcome]int{}
		}
		seen[r.Kind][r.Outcome]++
	}
	require.NotZero(t, seen[history.Acquire][history.Done])
	require.NotZero(t, seen[history.Try][history.Busy])
	require.NotZero(t, seen[history.End][history.Done])
	require.NotZero(t, seen[history.End][history.Unknown], "the one that died")
	require.NotZero(t, seen[history.Write][history.Done])
	require.NotZero(t, seen[history.Read][history.Done])

	data, err := json.Marshal(records)
	require.NoError(t, err)
	var again []history.Record
	require.NoError(t, json.Unmarshal(data, &again))
	require.Equal(t, records, again)

	// The same run with one lie in it.
	for i, r := range again {
		if r.Kind == history.End && r.Outcome == history.Done && r.Keys[0] == "file" {
			again[i].Call, again[i].Return = again[len(again)-1].Return-1, history.Never
			again[i].Outcome = history.Unknown
			break
		}
	}
	require.ErrorIs(t, history.Check(again, time.Minute), history.ErrViolation, "a holder that trusted its lease to the end of the run")
}

// turn is one thing that a worker does.
func turn(ctx context.Context, t *testing.T, client *history.Client, f *file, random *rand.Rand, text string) {
	var lease *history.Lease
	var err error
	switch random.IntN(4) {
	case 0:
		lease, err = client.TryAcquire(ctx, "file", coordinator.WithTTL(time.Hour))
	case 1:
		lease, err = client.AcquireAll(ctx, []string{"file", "index"}, coordinator.WithTTL(time.Hour))
	case 2:
		lease, err = client.TryAcquireAll(ctx, []string{"index", "file"}, coordinator.WithTTL(time.Hour))
	default:
		lease, err = client.Acquire(ctx, "file", coordinator.WithTTL(time.Hour))
	}
	if errors.Is(err, coordinator.ErrBusy) || errors.Is(err, coordinator.ErrUnavailable) {
		return
	}
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return
	}
	err = client.Write("file", lease.Token("file"), text, f.write(lease.Token("file"), text))
	if err != nil || !lease.Held() {
		t.Errorf("%s: %v", text, err)
	}
	if _, err := client.Read("file", f.read); err != nil {
		t.Errorf("%s: %v", text, err)
	}
	if err := lease.Release(ctx); err != nil {
		t.Errorf("%s: %v", text, err)
	}
}

func TestWhatTheRecorderSays(t *testing.T) {
	c := locktest.New(t, 1)
	node := c.Node(1).Coordinator()
	recorder := history.NewRecorder()
	client := recorder.Client(node)
	ctx := within(t, time.Minute)
	last := func() history.Record {
		records := recorder.Records()
		return records[len(records)-1]
	}

	lease, err := client.Acquire(ctx, "key")
	require.NoError(t, err)
	open := last()
	require.Equal(t, history.End, open.Kind, "an open lease may end at any time")
	require.Equal(t, history.Never, open.Return)
	require.True(t, lease.Held())
	require.Greater(t, last().Call, open.Call, "it was trusted later than at the grant")

	_, err = client.TryAcquire(ctx, "key")
	require.ErrorIs(t, err, coordinator.ErrBusy)
	_, err = client.Acquire(ctx, "")
	require.ErrorIs(t, err, coordinator.ErrInvalid)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = client.AcquireAll(ended, []string{"b", "a", "b"})
	require.ErrorIs(t, err, context.Canceled)
	records := recorder.Records()
	require.Equal(t, history.Busy, records[1].Outcome)
	require.Equal(t, history.Nothing, records[2].Outcome)
	require.Equal(t, history.Nothing, records[3].Outcome)
	require.Equal(t, []string{"a", "b"}, records[3].Keys)

	require.NoError(t, lease.Release(ctx))
	require.Equal(t, history.Done, last().Outcome)
	n := len(recorder.Records())
	require.NoError(t, lease.Release(ctx))
	require.Len(t, recorder.Records(), n, "a second release ends nothing")
	require.False(t, lease.Held())
	require.Zero(t, lease.Token("other"))

	cause := errors.New("cut off")
	require.ErrorIs(t, client.Write("file", 5, "x", func() error { return cause }), cause)
	require.Equal(t, history.Unknown, last().Outcome)
	require.Equal(t, history.Never, last().Return)
	require.ErrorIs(t, client.Write("file", 5, "x", func() error { return token.ErrStale }), token.ErrStale)
	require.Equal(t, history.Stale, last().Outcome)
	n = len(recorder.Records())
	_, err = client.Read("file", func() (string, error) { return "", cause })
	require.ErrorIs(t, err, cause)
	require.Len(t, recorder.Records(), n)

	lost, err := client.Acquire(ctx, "key")
	require.NoError(t, err)
	c.Node(1).Clock().Advance(locktest.TTL)
	require.ErrorIs(t, lost.Release(ctx), coordinator.ErrLeaseLost)
	require.Equal(t, history.Unknown, last().Outcome)
	require.Equal(t, history.Never, last().Return)
}

// What is added is there with the rest, and a journal has it whole or not at all.
func TestAddTakesWhatWasRecordedElsewhere(t *testing.T) {
	c := locktest.New(t, 1)
	var disk bytes.Buffer
	journal, recorder := history.NewJournal(&disk, ""), history.NewRecorder()
	var lease []history.Record
	call := history.Now()
	require.NoError(t, c.Node(1).Coordinator().Do(within(t, time.Minute), "key", func(_ context.Context, l *coordinator.Lease) error {
		lease = []history.Record{granted(call, history.Now(), "do", l.Token(), "key")}
		asked := history.Now()
		require.True(t, l.Held())
		lease = append(lease, ended(asked, never, "do", l.Token(), "key"))
		return nil
	}))
	next, err := recorder.Client(c.Node(1).Coordinator()).Acquire(within(t, time.Minute), "key")
	require.NoError(t, err)
	require.True(t, next.Held())
	recorder.Add(lease...)
	require.NoError(t, history.Check(recorder.Records(), time.Minute), "on one clock with the recorder")

	journal.Add(lease...)
	require.Equal(t, 1, bytes.Count(disk.Bytes(), []byte("\n")))
	records, err := history.ReadJournal(&disk)
	require.NoError(t, err)
	require.Equal(t, lease, records)

	lies := history.NewRecorder()
	lease[1].Call = history.Now() // that it trusted its lease until now
	lies.Add(lease[0], lease[1], recorder.Records()[0], ended(history.Now(), never, "next", next.Token("key"), "key"))
	require.ErrorIs(t, history.Check(lies.Records(), time.Minute), history.ErrViolation)
}
