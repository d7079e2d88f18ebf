package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/dashboard"
)

// running is the program under a test.
type running struct {
	*testing.T
	ctx   context.Context
	pages string // http://host:port
	log   string // the file that it logs to
}

func start(t *testing.T, s settings) *running {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	r := &running{T: t, ctx: ctx, log: filepath.Join(t.TempDir(), "log")}
	log, err := os.Create(r.log)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, log.Close()) })
	out, said := io.Pipe()
	ended := make(chan error, 1)
	s.listen = "127.0.0.1:0"
	go func() {
		err := run(ctx, said, log, s)
		_ = said.CloseWithError(io.EOF)
		ended <- err
	}()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if found := regexp.MustCompile(`http://[^/]+`).FindString(lines.Text()); found != "" {
			r.pages = found
		}
		if strings.Contains(lines.Text(), "metrics") {
			return r
		}
	}
	cancel()
	require.NoError(t, <-ended)
	require.FailNow(t, "it said nothing")
	return nil
}

func (r *running) get(path string) string {
	r.Helper()
	answer, err := http.Get(r.pages + path)
	require.NoError(r, err)
	defer answer.Body.Close()
	require.Equal(r, http.StatusOK, answer.StatusCode)
	text, err := io.ReadAll(answer.Body)
	require.NoError(r, err)
	return string(text)
}

// await asks for the page of node 1 until it is as it should be.
func (r *running) await(what string, like func(dashboard.View) bool) {
	r.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		var v dashboard.View
		require.NoError(r, json.Unmarshal([]byte(r.get("/node/1/json")), &v))
		if like(v) {
			return
		}
		select {
		case <-tick.C:
		case <-r.ctx.Done():
			require.FailNow(r, what+" was not shown", "%+v", v)
		}
	}
}

func TestObserved(t *testing.T) {
	r := start(t, settings{})
	r.await("the contention", func(v dashboard.View) bool {
		return len(v.Node.Problems) == 0 && len(v.Queues) > 0 && v.Queues[0].Key == "report/daily" && len(v.WaitsFor) > 0
	})
	r.await("the key that is waited for most", func(v dashboard.View) bool {
		return len(v.Hot) > 0 && v.Hot[0].Key == "report/daily"
	})
	r.await("a lease that was lost", func(v dashboard.View) bool {
		return len(v.Losses) > 0 && v.Losses[0].Key == "nightly/close" && v.Losses[0].Reason == "limit" && v.Losses[0].ReleasedAfter != nil
	})
	for _, node := range []string{"1", "2", "3"} {
		require.Contains(t, r.get("/node/"+node+"/"), "<h1>observed")
		require.Contains(t, r.get("/metrics"), `palisade_up{node="`+node+`"} 1`)
	}
	require.Regexp(t, `palisade_losses_total\{node="1",reason="limit"\} [1-9]`, r.get("/metrics"))
	require.Contains(t, r.get("/"), "/node/3/")
	log, err := os.ReadFile(r.log)
	require.NoError(t, err)
	require.Contains(t, string(log), "a lost lease was released only now")
}

func TestObservedWithoutAQuorum(t *testing.T) {
	r := start(t, settings{breaks: time.Second})
	r.await("the problem", func(v dashboard.View) bool {
		return strings.Contains(strings.Join(v.Node.Problems, "; "), "has no leader")
	})
	r.await("what it cost", func(v dashboard.View) bool {
		for _, l := range v.Losses {
			if l.Reason == "window" {
				return true
			}
		}
		return false
	})
}
