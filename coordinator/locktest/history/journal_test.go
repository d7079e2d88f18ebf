package history_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/coordinator/locktest/history"
	"github.com/palisade-go/palisade/token"
)

// lines is a journal that can be cut off at each line.
type lines struct {
	all    []string
	broken error
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	if l.broken != nil {
		return 0, l.broken
	}
	l.all = append(l.all, string(p))
	return len(p), nil
}

// upTo returns the records of a process that ended after it had written n lines.
func (l *lines) upTo(t *testing.T, n int) []history.Record {
	t.Helper()
	records, err := history.ReadJournal(strings.NewReader(strings.Join(l.all[:n], "")))
	require.NoError(t, err)
	return records
}

func (l *lines) now(t *testing.T) []history.Record { return l.upTo(t, len(l.all)) }

// A journal says at every moment what is known if the process ends there.
func TestAJournalIsWholeAtEveryMoment(t *testing.T) {
	node := locktest.New(t, 1).Node(1).Coordinator()
	var written lines
	recorder := history.NewJournal(&written, "node 1, ")
	client := recorder.Client(node)
	ctx := within(t, time.Minute)

	set, err := client.AcquireAll(ctx, []string{"l", "k", "l"})
	require.NoError(t, err)
	begun, granted := written.upTo(t, 1), written.upTo(t, 2)
	require.Len(t, begun, 1, "it is there before it was made")
	require.Equal(t, history.Acquire, begun[0].Kind)
	require.Equal(t, history.Unknown, begun[0].Outcome)
	require.Equal(t, history.Never, begun[0].Return)
	require.Equal(t, []string{"k", "l"}, begun[0].Keys)
	require.Equal(t, "node 1, client 1", begun[0].Client)
	require.Len(t, written.all, 2, "the grant and its ends are one line")
	require.Len(t, granted, 3)
	require.Equal(t, history.Done, granted[0].Outcome)
	require.GreaterOrEqual(t, granted[0].Call, begun[0].Call)
	for i, key := range []string{"k", "l"} {
		end := granted[1+i]
		require.Equal(t, history.End, end.Kind)
		require.Equal(t, []string{key}, end.Keys)
		require.Equal(t, []token.Token{set.Token(key)}, end.Tokens)
		require.Equal(t, history.Never, end.Return, "it may end at any time")
	}

	require.True(t, set.Held())
	trusted := written.now(t)
	require.Len(t, trusted, 3)
	require.Greater(t, trusted[2].Call, granted[2].Call, "it was trusted later than at the grant")

	value := "x"
	require.NoError(t, client.Write("r", set.Token("k"), value, func() error {
		records := written.now(t)
		require.Equal(t, history.Unknown, records[3].Outcome, "a write is there before it is made")
		require.Equal(t, value, records[3].Value)
		return nil
	}))
	require.Equal(t, history.Done, written.now(t)[3].Outcome)
	n := len(written.all)
	_, err = client.Read("r", func() (string, error) {
		require.Len(t, written.all, n, "a read that does not return has done nothing")
		return value, nil
	})
	require.NoError(t, err)
	require.Equal(t, value, written.now(t)[4].Value)

	_, err = client.TryAcquire(ctx, "k")
	require.ErrorIs(t, err, coordinator.ErrBusy)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = client.Acquire(ended, "k")
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, set.Release(ctx))
	n = len(written.all)
	require.False(t, set.Held())
	require.NoError(t, set.Release(ctx))
	require.Len(t, written.all, n, "what has ended does not end again")
	records := written.now(t)
	require.Len(t, records, 7)
	require.Equal(t, history.Busy, records[5].Outcome)
	require.Equal(t, history.Nothing, records[6].Outcome)
	require.Equal(t, history.Done, records[1].Outcome)
	require.Equal(t, history.Done, records[2].Outcome)

	require.NoError(t, recorder.Err())
	require.Empty(t, recorder.Records(), "a journal keeps none")
	for n := range len(written.all) + 1 {
		require.NoError(t, history.Check(written.upTo(t, n), time.Minute), "cut off after %d lines", n)
	}
}

func TestAJournalThatCanNotBeWrittenSaysSo(t *testing.T) {
	full := errors.New("full")
	written := lines{broken: full}
	recorder := history.NewJournal(&written, "")
	recorder.Add(read(1, 2, "x"))
	require.ErrorIs(t, recorder.Err(), full)
	written.broken = nil
	recorder.Add(read(3, 4, "x"))
	require.Empty(t, written.all, "a journal with a gap would be a lie")
	require.NoError(t, history.NewRecorder().Err())
}

func TestReadJournal(t *testing.T) {
	var journal bytes.Buffer
	recorder := history.NewJournal(&journal, "")
	recorder.Add(read(1, 2, "x"))
	recorder.Add(read(3, 4, "y"))
	whole := journal.String()
	records, err := history.ReadJournal(strings.NewReader(whole))
	require.NoError(t, err)
	require.Equal(t, []history.Record{read(1, 2, "x"), read(3, 4, "y")}, records)

	records, err = history.ReadJournal(strings.NewReader(whole[:len(whole)-1]))
	require.NoError(t, err)
	require.Equal(t, []history.Record{read(1, 2, "x")}, records, "the last line was cut short")

	_, err = history.ReadJournal(strings.NewReader("nonsense\n"))
	require.ErrorIs(t, err, history.ErrInvalid)
	torn := errors.New("torn")
	_, err = history.ReadJournal(brokenReader{torn})
	require.ErrorIs(t, err, torn)
}

type brokenReader struct{ err error }

// Read implements io.Reader.
func (r brokenReader) Read([]byte) (int, error) { return 0, r.err }
