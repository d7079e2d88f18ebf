package logs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/coordinator/logs"
	"github.com/palisade-go/palisade/internal/saidtest"
	"github.com/palisade-go/palisade/token"
)

var subject = coordinator.Subject{
	Request: 7, Keys: []string{"order/4711", "stock/1"}, RequestID: "id", TTL: time.Minute, Group: 3, Token: token.Token(42),
	Context: context.WithValue(context.Background(), secretKey{}, "secret"),
}

type secretKey struct{}

// newLog returns what is logged and a logger that writes lines without their time to it.
func newLog(level slog.Level) (*saidtest.Log, *slog.Logger) {
	b := &saidtest.Log{}
	withoutTime := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	return b, slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: level, ReplaceAttr: withoutTime}))
}

func TestLines(t *testing.T) {
	const about = `key=order/4711 keys=2 request=7 request_id=id token=42 group=3 ttl=1m0s`
	cause := errors.New("cause")
	for _, test := range []struct {
		event coordinator.Event
		want  string
	}{
		{
			&coordinator.Transition{Subject: subject, From: coordinator.Asked, To: coordinator.Queued, Took: time.Second},
			`level=DEBUG msg="a request is queued" ` + about + ` from=asked to=queued took=1s`,
		}, {
			&coordinator.Transition{Subject: subject, From: coordinator.Queued, To: coordinator.Active, Took: time.Second, Wait: coordinator.WaitAcquired},
			`level=DEBUG msg="a lease is acquired" ` + about + ` from=queued to=active took=1s`,
		}, {
			&coordinator.Transition{Subject: subject, From: coordinator.Active, To: coordinator.Releasing, Took: time.Second, Remaining: time.Hour},
			`level=DEBUG msg="a lease is released" ` + about + ` from=active to=releasing took=1s remaining=1h0m0s`,
		}, {
			&coordinator.Transition{Subject: subject, From: coordinator.Releasing, To: coordinator.Released, Took: time.Second},
			`level=DEBUG msg="a release is confirmed" ` + about + ` from=releasing to=released took=1s`,
		}, {
			&coordinator.Transition{Subject: subject, From: coordinator.Active, To: coordinator.Lost, Took: time.Second, Loss: coordinator.LossWindow, Err: cause},
			`level=WARN msg="a lease is lost" ` + about + ` from=active to=lost took=1s loss=window error=cause`,
		}, {
			&coordinator.Transition{Subject: subject, From: coordinator.Active, To: coordinator.Lost, Took: time.Second, Loss: coordinator.LossClosed, Err: cause},
			`level=INFO msg="a lease has ended with its node" ` + about + ` from=active to=lost took=1s loss=closed error=cause`,
		}, {
			&coordinator.Overrun{Subject: subject, After: time.Second, Loss: coordinator.LossExpired},
			`level=WARN msg="a lost lease was released only now" ` + about + ` took=1s loss=expired`,
		}, {
			&coordinator.Renewing{Group: 3, Failing: true, Leases: 9},
			`level=WARN msg="renewing fails" group=3 leases=9`,
		}, {
			&coordinator.Renewing{Group: 3, Leases: 9},
			`level=INFO msg="renewing works again" group=3 leases=9`,
		}, {
			&coordinator.Renewing{Group: 3, Failing: true},
			`level=DEBUG msg="renewing fails" group=3 leases=0`,
		}, {
			&coordinator.Expired{Group: 3, Leases: 9},
			`level=WARN msg="a group has expired leases of this node" group=3 leases=9`,
		}, {
			&coordinator.LeaderChanged{Group: 3, Leader: 2, Term: 5},
			`level=INFO msg="a group has another leader or term" group=3 leader=2 term=5`,
		}, {
			&coordinator.Dropped{Events: 5},
			`level=WARN msg="events were not logged: the log is too slow" events=5`,
		}, {
			&coordinator.Committed{Group: 3, Bytes: 100, Took: time.Second, Attempts: 1},
			``,
		},
	} {
		lines, logger := newLog(slog.LevelDebug)
		logs.New(logger, logs.Options{}).Observe(test.event)
		require.Equal(t, test.want, strings.TrimSuffix(lines.String(), "\n"))
		require.NotContains(t, lines.String(), "secret")
	}
}

func TestLinesOfARequestThatFails(t *testing.T) {
	for end, want := range map[coordinator.WaitEnd]string{
		coordinator.WaitBusy:        `level=DEBUG msg="a request has ended without a lease"`,
		coordinator.WaitTimeout:     `level=DEBUG msg="a request has ended without a lease"`,
		coordinator.WaitCancelled:   `level=DEBUG msg="a request has ended without a lease"`,
		coordinator.WaitClosed:      `level=INFO msg="a request has ended with its node"`,
		coordinator.WaitQueueFull:   `level=WARN msg="a request has failed"`,
		coordinator.WaitUnavailable: `level=WARN msg="a request has failed"`,
		coordinator.WaitLost:        `level=WARN msg="a request has failed"`,
		coordinator.WaitOther:       `level=WARN msg="a request has failed"`,
	} {
		lines, logger := newLog(slog.LevelDebug)
		failed := &coordinator.Transition{
			Subject: coordinator.Subject{Request: 7, Keys: []string{"key"}, TTL: time.Minute, Group: 3},
			From:    coordinator.Queued, To: coordinator.Failed, Took: time.Second, Wait: end, Err: errors.New("cause"),
		}
		logs.New(logger, logs.Options{}).Observe(failed)
		name := end.String()
		if strings.Contains(name, " ") {
			name = `"` + name + `"`
		}
		require.Equal(t, want+` key=key request=7 group=3 ttl=1m0s from=queued to=failed took=1s wait=`+name+
			" outcome=unknown error=cause\n", lines.String())
	}
}

func TestNormalizeKeyKeepsKeysOutOfTheLog(t *testing.T) {
	lines, logger := newLog(slog.LevelDebug)
	o := logs.New(logger, logs.Options{NormalizeKey: func(key string) string {
		head, _, _ := strings.Cut(key, "/")
		return head + "/{id}"
	}})
	o.Observe(&coordinator.Transition{
		Subject: subject, From: coordinator.Queued, To: coordinator.Failed,
		Wait: coordinator.WaitTimeout, Err: errors.New(`order/4711 is taken`),
	})
	o.Observe(&coordinator.Overrun{Subject: subject})
	require.Equal(t, 2, strings.Count(lines.String(), "key=order/{id} keys=2"))
	require.NotContains(t, lines.String(), "4711")
}

func TestLinesOfOneKindAreLimited(t *testing.T) {
	lines, logger := newLog(slog.LevelDebug)
	o := logs.New(logger, logs.Options{})
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	fails := func(at time.Duration) {
		o.Observe(&coordinator.Renewing{At: start.Add(at), Group: 1, Failing: true, Leases: 1})
	}
	for range logs.DefaultLinesPerMinute + 5 {
		fails(time.Second)
	}
	count := func(what string) int { return strings.Count(lines.String(), what) }
	require.Equal(t, logs.DefaultLinesPerMinute, count("renewing fails"))
	o.Observe(&coordinator.Renewing{At: start, Group: 1, Leases: 1})
	require.Equal(t, 1, count("renewing works again"), "another kind has a limit of its own")
	for range logs.DefaultLinesPerMinute + 5 {
		o.Observe(&coordinator.Transition{Subject: subject, At: start, To: coordinator.Active})
	}
	require.Equal(t, logs.DefaultLinesPerMinute+5, count("a lease is acquired"), "debug is not limited")

	fails(2 * time.Minute)
	require.Equal(t, 1, count("left_out=5"), "%v", lines)
	fails(2 * time.Minute)
	require.Equal(t, 1, count("left_out="))
}

func TestABusyNodeThatIsWellLogsNothingAtInfo(t *testing.T) {
	lines, logger := newLog(slog.LevelInfo)
	c := locktest.New(t, 1, locktest.WithConfig(func(_ int, cfg *coordinator.Config) {
		cfg.Observers = []coordinator.Observer{logs.New(logger, logs.Options{})}
	}))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for i := range 200 {
		lease, err := c.Node(1).Coordinator().Acquire(ctx, fmt.Sprintf("key %d", i%7), coordinator.WithTTL(time.Hour))
		require.NoError(t, err)
		_, err = c.Node(1).Coordinator().TryAcquire(ctx, lease.Key())
		require.ErrorIs(t, err, coordinator.ErrBusy)
		require.NoError(t, lease.Release(ctx))
	}
	c.Node(1).Close() // every event was told of then
	for _, line := range strings.Split(strings.TrimSpace(lines.String()), "\n") {
		require.Contains(t, line, "a group has another leader or term")
	}
}
