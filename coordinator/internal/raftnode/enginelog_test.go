package raftnode

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/internal/saidtest"
)

// listen adds a Logger for the time of a test.
func listen(t *testing.T) *saidtest.Log {
	buffer := &saidtest.Log{}
	t.Cleanup(logEngineTo(slog.New(slog.NewTextHandler(buffer, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	return buffer
}

func TestEngineLog(t *testing.T) {
	t.Run("TellsErrorsAndWarningsAsDebug", func(t *testing.T) {
		buffer := listen(t)
		l := engineLogger("raft")
		l.Debugf("debug-of-%s", t.Name())
		l.Infof("info-of-%s", t.Name())
		l.Warningf("warning-of-%s", t.Name())
		l.Errorf("error-of-%s", t.Name())
		require.NotContains(t, buffer.String(), "debug-of-")
		require.NotContains(t, buffer.String(), "info-of-")
		require.Contains(t, buffer.String(), "level=DEBUG msg=warning-of-")
		require.Contains(t, buffer.String(), "level=ERROR msg=error-of-")
		require.Contains(t, buffer.String(), "engine=raft")
	})

	t.Run("TellsEachLoggerOnce", func(t *testing.T) {
		first, second := listen(t), listen(t)
		both := slog.New(slog.NewTextHandler(first, &slog.HandlerOptions{Level: slog.LevelDebug}))
		t.Cleanup(logEngineTo(both))
		t.Cleanup(logEngineTo(both))
		engineLogger("raft").Warningf("each-once")
		require.Equal(t, 2, strings.Count(first.String(), "each-once"), "two Loggers write here")
		require.Equal(t, 1, strings.Count(second.String(), "each-once"))
	})

	t.Run("TellsNobodyWhoHasLeft", func(t *testing.T) {
		buffer := &saidtest.Log{}
		remove := logEngineTo(slog.New(slog.NewTextHandler(buffer, nil)))
		remove()
		remove() // a second time is nothing
		engineLogger("raft").Warningf("to nobody")
		require.Empty(t, buffer.String())
	})

	t.Run("SuppressesRepetitionsAndCountsThem", func(t *testing.T) {
		now := time.Now()
		kind := t.Name()
		suppressed, allowed := allow(kind, now)
		require.True(t, allowed)
		require.Zero(t, suppressed)
		for i := range 3 {
			_, allowed = allow(kind, now.Add(time.Duration(i)*time.Second))
			require.False(t, allowed)
		}
		_, allowed = allow(kind+" another", now)
		require.True(t, allowed)
		suppressed, allowed = allow(kind, now.Add(quotaInterval))
		require.True(t, allowed)
		require.Equal(t, 3, suppressed)
		suppressed, allowed = allow(kind, now.Add(2*quotaInterval))
		require.True(t, allowed)
		require.Zero(t, suppressed)
	})

	t.Run("PanicsWithAnError", func(t *testing.T) {
		buffer := listen(t)
		err := guard(func() error {
			engineLogger("rsm").Panicf("broken %d", 7)
			return nil
		})
		var failure *engineFailure
		require.True(t, errors.As(err, &failure))
		require.EqualError(t, err, "rsm: broken 7")
		require.Contains(t, buffer.String(), "broken 7")
	})
}
