package httpfence_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/httpfence"
	"github.com/palisade-go/palisade/token/httpfence/internal/storetest"
)

func newMemory(t testing.TB, cfg httpfence.MemoryConfig) *httpfence.Memory {
	t.Helper()
	m, err := httpfence.NewMemory(cfg)
	require.NoError(t, err)
	return m
}

func TestMemoryIsAStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) httpfence.Store {
		return newMemory(t, httpfence.MemoryConfig{OperationsMax: storetest.OperationsMax})
	})
}

func TestMemoryStaysWithinItsBounds(t *testing.T) {
	ctx := context.Background()
	t.Run("OperationsAndBytesStayTheSameHoweverManyCome", func(t *testing.T) {
		m := newMemory(t, httpfence.MemoryConfig{OperationsMax: 4, ResourcesMax: 3, AnswerBytesMax: 1000})
		for i := range 2000 {
			record := storetest.Begun(1, byte(i))
			operation, resource := token.Operation(fmt.Sprint(i)), fmt.Sprint(i%3)
			require.NoError(t, m.Save(ctx, resource, httpfence.Change{Highest: 1, Operation: operation, Record: record}))
			record.Answer = &httpfence.Answer{Status: 200, Body: []byte(strings.Repeat("x", i%300))}
			require.NoError(t, m.Save(ctx, resource, httpfence.Change{Operation: operation, Record: record}))
			counts := m.Counts()
			require.LessOrEqual(t, counts.Resources, 3)
			require.LessOrEqual(t, counts.Operations, 12)
			require.LessOrEqual(t, counts.AnswerBytes, int64(1000))
		}
		require.Equal(t, 12, m.Counts().Operations)
		for i := range 2000 {
			require.NoError(t, m.Save(ctx, fmt.Sprint(i%3), httpfence.Change{Operation: token.Operation(fmt.Sprint(i))}))
		}
		require.Equal(t, httpfence.Counts{Resources: 3}, m.Counts(), "the counters count")
	})
	t.Run("AnAnswerThatDoesNotFitIsKeptAsItsStatus", func(t *testing.T) {
		m := newMemory(t, httpfence.MemoryConfig{AnswerBytesMax: 10})
		for operation, body := range map[token.Operation]string{"fits": "0123456789", "not": "x"} {
			record := storetest.Begun(1, 1)
			record.Answer = &httpfence.Answer{Status: 202, Body: []byte(body)}
			if operation == "not" {
				record.Answer.Header = map[string][]string{"Name": {"0123456"}}
				record.Answer.Body = nil
			}
			require.NoError(t, m.Save(ctx, string(operation), httpfence.Change{Operation: operation, Record: record}))
		}
		kept, err := m.Load(ctx, "fits", "fits")
		require.NoError(t, err)
		first := kept.Record.Answer
		kept, err = m.Load(ctx, "not", "not")
		require.NoError(t, err)
		second := kept.Record.Answer
		require.True(t, first.Omitted != second.Omitted, "one of the two fits, whichever came first")
		require.Equal(t, 202, first.Status)
		require.Equal(t, 202, second.Status)
	})
	t.Run("ANewResourceIsRefusedWhenItIsFullAndAnOldOneIsNot", func(t *testing.T) {
		m := newMemory(t, httpfence.MemoryConfig{ResourcesMax: 2})
		require.NoError(t, m.Save(ctx, "a", httpfence.Change{Highest: 1}))
		require.NoError(t, m.Save(ctx, "b", httpfence.Change{Highest: 1}))
		require.ErrorIs(t, m.Save(ctx, "c", httpfence.Change{Highest: 1}), httpfence.ErrFull)
		require.NoError(t, m.Save(ctx, "a", httpfence.Change{Highest: 2}))
		kept, err := m.Load(ctx, "c", "")
		require.NoError(t, err)
		require.Zero(t, kept)
	})
}

func TestMemoryDefaults(t *testing.T) {
	require.Equal(t, 10_000, httpfence.DefaultMemoryResourcesMax)
	require.Equal(t, 64, httpfence.DefaultMemoryOperationsMax)
	require.Equal(t, 64<<20, httpfence.DefaultMemoryAnswerBytesMax)
	ctx := context.Background()
	m := newMemory(t, httpfence.MemoryConfig{})
	for i := range 65 {
		change := httpfence.Change{Operation: token.Operation(fmt.Sprint(i)), Record: storetest.Begun(1, 1)}
		require.NoError(t, m.Save(ctx, "a", change))
	}
	require.Equal(t, 64, m.Counts().Operations)
	for i := range 9999 {
		require.NoError(t, m.Save(ctx, fmt.Sprint(i), httpfence.Change{Highest: 1}))
	}
	require.ErrorIs(t, m.Save(ctx, "one more", httpfence.Change{Highest: 1}), httpfence.ErrFull)
	big := storetest.Begun(1, 1)
	big.Answer = &httpfence.Answer{Status: 200, Body: make([]byte, 64<<20+1)}
	require.NoError(t, m.Save(ctx, "a", httpfence.Change{Operation: "big", Record: big}))
	kept, err := m.Load(ctx, "a", "big")
	require.NoError(t, err)
	require.True(t, kept.Record.Answer.Omitted)
}

func TestMemoryConfigReportsEveryProblemAtOnce(t *testing.T) {
	_, err := httpfence.NewMemory(httpfence.MemoryConfig{ResourcesMax: -1, OperationsMax: -2, AnswerBytesMax: -3})
	require.ErrorIs(t, err, token.ErrInvalid)
	for _, field := range []string{"ResourcesMax is -1", "OperationsMax is -2", "AnswerBytesMax is -3"} {
		require.ErrorContains(t, err, field)
	}
}
