package logs

import (
	"context"
	"log/slog"
	"time"

	"github.com/palisade-go/palisade/coordinator"
)

// DefaultLinesPerMinute is the default of Options.LinesPerMinute.
const DefaultLinesPerMinute = 60

// Options say what is written. The zero value of a field means its default.
type Options struct {
	// NormalizeKey returns what is written instead of a key: "order/{id}" for
	// "order/4711", say, so that lines can be grouped and ids stay out of the log.
	// With it the text of errors is left out, which may have keys in it. It is
	// called by one goroutine. Default: keys are written as they are.
	NormalizeKey func(key string) string
	// LinesPerMinute bounds the lines of each kind at info and above. Default: 60.
	LinesPerMinute int
}

// New returns an observer that writes to logger. A handler that blocks loses lines,
// which are counted, and holds nobody up.
func New(logger *slog.Logger, o Options) coordinator.Observer {
	if o.LinesPerMinute <= 0 {
		o.LinesPerMinute = DefaultLinesPerMinute
	}
	return &observer{logger: logger, options: o, limits: make(map[string]*limit)}
}

type observer struct {
	logger  *slog.Logger
	options Options
	limits  map[string]*limit // by message: there is a fixed number of them
}

// Observe implements coordinator.Observer.
func (o *observer) Observe(e coordinator.Event) {
	switch e := e.(type) {
	case *coordinator.Transition:
		o.transition(e)
	case *coordinator.Overrun:
		o.write(slog.LevelWarn, "a lost lease was released only now", e.At, func() []slog.Attr {
			return append(o.subject(&e.Subject), slog.Duration("took", e.After), slog.String("loss", e.Loss.String()))
		})
	case *coordinator.Renewing:
		level, message := slog.LevelInfo, "renewing works again"
		if e.Failing {
			level, message = slog.LevelWarn, "renewing fails"
		}
		if e.Leases == 0 { // as before the first leader
			level = slog.LevelDebug
		}
		o.write(level, message, e.At, leasesOf(e.Group, e.Leases))
	case *coordinator.Expired:
		o.write(slog.LevelWarn, "a group has expired leases of this node", e.At, leasesOf(e.Group, e.Leases))
	case *coordinator.LeaderChanged:
		o.write(slog.LevelInfo, "a group has another leader or term", e.At, func() []slog.Attr {
			return []slog.Attr{slog.Int("group", e.Group), slog.Uint64("leader", uint64(e.Leader)), slog.Uint64("term", e.Term)}
		})
	case *coordinator.Dropped:
		o.write(slog.LevelWarn, "events were not logged: the log is too slow", time.Now(), func() []slog.Attr {
			return []slog.Attr{slog.Uint64("events", e.Events)}
		})
	}
}

// leasesOf says how many leases in which group.
func leasesOf(group, leases int) func() []slog.Attr {
	return func() []slog.Attr { return []slog.Attr{slog.Int("group", group), slog.Int("leases", leases)} }
}

func (o *observer) transition(t *coordinator.Transition) {
	level, message := lineOf(t)
	o.write(level, message, t.At, func() []slog.Attr {
		attrs := append(o.subject(&t.Subject),
			slog.String("from", t.From.String()), slog.String("to", t.To.String()), slog.Duration("took", t.Took))
		switch t.To {
		case coordinator.Releasing:
			attrs = append(attrs, slog.Duration("remaining", t.Remaining))
		case coordinator.Lost:
			attrs = append(attrs, slog.String("loss", t.Loss.String()))
		case coordinator.Failed:
			attrs = append(attrs, slog.String("wait", t.Wait.String()), slog.String("outcome", t.Outcome.String()))
		}
		if t.Err != nil && o.options.NormalizeKey == nil {
			attrs = append(attrs, slog.String("error", t.Err.Error()))
		}
		return attrs
	})
}

// lineOf returns the level and the message of a transition.
func lineOf(t *coordinator.Transition) (slog.Level, string) {
	switch t.To {
	case coordinator.Queued:
		return slog.LevelDebug, "a request is queued"
	case coordinator.Active:
		return slog.LevelDebug, "a lease is acquired"
	case coordinator.Releasing:
		return slog.LevelDebug, "a lease is released"
	case coordinator.Released:
		return slog.LevelDebug, "a release is confirmed"
	case coordinator.Lost:
		if t.Loss == coordinator.LossClosed {
			return slog.LevelInfo, "a lease has ended with its node"
		}
		return slog.LevelWarn, "a lease is lost"
	}
	switch t.Wait {
	case coordinator.WaitBusy, coordinator.WaitTimeout, coordinator.WaitCancelled:
		return slog.LevelDebug, "a request has ended without a lease"
	case coordinator.WaitClosed:
		return slog.LevelInfo, "a request has ended with its node"
	}
	return slog.LevelWarn, "a request has failed"
}

// subject describes a request.
func (o *observer) subject(s *coordinator.Subject) []slog.Attr {
	key := s.Keys[0]
	if o.options.NormalizeKey != nil {
		key = o.options.NormalizeKey(key)
	}
	attrs := make([]slog.Attr, 0, 16)
	attrs = append(attrs, slog.String("key", key))
	if len(s.Keys) > 1 {
		attrs = append(attrs, slog.Int("keys", len(s.Keys)))
	}
	attrs = append(attrs, slog.Uint64("request", s.Request))
	if s.RequestID != "" {
		attrs = append(attrs, slog.String("request_id", s.RequestID))
	}
	if s.Token != 0 {
		attrs = append(attrs, slog.Any("token", s.Token))
	}
	return append(attrs, slog.Int("group", s.Group), slog.Duration("ttl", s.TTL))
}

// write writes a line, unless nobody wants it or there were too many of its kind.
func (o *observer) write(level slog.Level, message string, at time.Time, attrs func() []slog.Attr) {
	if !o.logger.Enabled(context.Background(), level) {
		return
	}
	leftOut := 0
	if level >= slog.LevelInfo {
		l := o.limits[message]
		if l == nil {
			l = &limit{}
			o.limits[message] = l
		}
		var pass bool
		if pass, leftOut = l.pass(at, o.options.LinesPerMinute); !pass {
			return
		}
	}
	line := attrs()
	if leftOut > 0 {
		line = append(line, slog.Int("left_out", leftOut))
	}
	o.logger.LogAttrs(context.Background(), level, message, line...)
}
