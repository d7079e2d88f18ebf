package raftnode

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/lni/dragonboat/v4/logger"
)

// engineLog routes what the engine logs to the Loggers of the open Nodes: its
// errors as errors, and its warnings as debug. It warns in each step of each
// election, of proposals that it has dropped (which are made again), and that
// its own TLS is off (which is not used).
//
// The engine has one logger for the whole process, which can be set once. So
// this is the only mutable state of the package that belongs to no Node. What
// the engine logs does not say which Node it is about, so each Logger gets
// all of it; with one Node in a process, which is the rule outside of tests,
// that is the same. A program that has set the engine's logger before the
// first Open keeps its own.
var engineLog struct {
	once  sync.Once
	mu    sync.Mutex
	sinks []*slog.Logger // one for each open Node
	last  map[string]*quota
}

// quota limits how often one message is logged.
type quota struct {
	next       time.Time
	suppressed int
}

// quotaInterval is how often one message of the engine is logged at most. The
// engine warns for each dropped proposal and each failed connection.
const quotaInterval = 5 * time.Second

// logEngineTo adds a Logger until remove is called.
func logEngineTo(log *slog.Logger) (remove func()) {
	engineLog.once.Do(func() {
		// It panics when a factory was set before; then that one stays.
		defer func() { _ = recover() }()
		logger.SetLoggerFactory(func(name string) logger.ILogger { return engineLogger(name) })
	})
	engineLog.mu.Lock()
	defer engineLog.mu.Unlock()
	engineLog.sinks = append(engineLog.sinks, log)
	var once sync.Once
	return func() {
		once.Do(func() {
			engineLog.mu.Lock()
			defer engineLog.mu.Unlock()
			at := slices.Index(engineLog.sinks, log)
			engineLog.sinks = slices.Delete(engineLog.sinks, at, at+1)
		})
	}
}

// engineLogger is the logger of one of the engine's packages.
type engineLogger string

var _ logger.ILogger = engineLogger("")

func (engineLogger) SetLevel(logger.LogLevel) {}
func (engineLogger) Debugf(string, ...any)    {}
func (engineLogger) Infof(string, ...any)     {}

func (l engineLogger) Warningf(format string, args ...any) { l.log(slog.LevelDebug, format, args) }
func (l engineLogger) Errorf(format string, args ...any)   { l.log(slog.LevelError, format, args) }

// Panicf must not return, and must panic with an error: the engine swallows
// other values in its start.
func (l engineLogger) Panicf(format string, args ...any) {
	err := &engineFailure{where: string(l), text: fmt.Sprintf(format, args...)}
	l.emit(slog.LevelError, err.text, 0)
	panic(err)
}

// engineFailure is what the engine panics with.
type engineFailure struct{ where, text string }

func (e *engineFailure) Error() string { return e.where + ": " + e.text }

func (l engineLogger) log(level slog.Level, format string, args []any) {
	suppressed, allowed := allow(string(l)+format, time.Now())
	if allowed {
		l.emit(level, fmt.Sprintf(format, args...), suppressed)
	}
}

// allow reports whether a message may be logged now, and how many of its kind
// were not since the last one that was. The kinds are the formats in the
// engine's source, so their number is bounded.
func allow(kind string, now time.Time) (suppressed int, allowed bool) {
	engineLog.mu.Lock()
	defer engineLog.mu.Unlock()
	if engineLog.last == nil {
		engineLog.last = make(map[string]*quota)
	}
	q := engineLog.last[kind]
	if q == nil {
		q = &quota{}
		engineLog.last[kind] = q
	}
	if now.Before(q.next) {
		q.suppressed++
		return 0, false
	}
	suppressed = q.suppressed
	*q = quota{next: now.Add(quotaInterval)}
	return suppressed, true
}

func (l engineLogger) emit(level slog.Level, text string, suppressed int) {
	engineLog.mu.Lock()
	sinks := slices.Clone(engineLog.sinks)
	engineLog.mu.Unlock()
	attrs := []slog.Attr{slog.String("engine", string(l))}
	if suppressed > 0 {
		attrs = append(attrs, slog.Int("suppressed", suppressed))
	}
	told := make(map[*slog.Logger]bool)
	for _, sink := range sinks {
		if !told[sink] {
			told[sink] = true
			sink.LogAttrs(context.Background(), level, text, attrs...)
		}
	}
}
