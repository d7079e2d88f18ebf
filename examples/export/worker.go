package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/token"
)

// stepTime bounds a step of the job. A step of the story needs some
// milliseconds; the time is for a busy machine.
const stepTime = 2 * time.Second

// worker does what it is told, and says what comes of it: a word and, after a
// space, the rest of the line. Its methods are called by one goroutine.
type worker struct {
	node   *coordinator.Coordinator
	ledger *ledger
	guard  fence
	orders <-chan string
	out    io.Writer

	late *late // the write before which it was stopped last
}

// late is a write that an owner was about to make.
type late struct {
	job   *job
	token token.Token
	page  page
}

// say prints a line. Nobody may be there to read it, which changes nothing.
func (w *worker) say(word, format string, args ...any) {
	fmt.Fprintln(w.out, strings.TrimSpace(word+" "+fmt.Sprintf(format, args...)))
}

// work carries out orders until ctx ends. Between two orders nothing is left
// half done.
func (w *worker) work(ctx context.Context) error {
	if err := w.node.WaitReady(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	w.say("ready", "")
	for {
		select {
		case order := <-w.orders:
			w.obey(ctx, order)
		case <-ctx.Done():
			return nil
		}
	}
}

// obey carries out an order.
func (w *worker) obey(ctx context.Context, order string) {
	word, rest, _ := strings.Cut(order, " ")
	switch word {
	case "export":
		t, err := parseTask(rest)
		if err != nil {
			w.say("failed", "%v", err)
			return
		}
		w.export(ctx, t)
	case "write":
		w.write(ctx)
	default:
		w.say("failed", "no such order: %s", order)
	}
}

// export gets the lease of a month, does the job, and gives the lease back. An
// order "go" has it go on where it is to stop.
func (w *worker) export(ctx context.Context, t task) {
	l, err := w.acquire(ctx, t)
	if err != nil {
		w.say("failed", "%v", err)
		return
	}
	w.say("acquired", "%s", l.Token())
	switch err := w.job(ctx, t, l).run(ctx, l); {
	case errors.Is(err, coordinator.ErrLeaseLost):
		w.say("lost", "%v", err)
		return
	case err != nil:
		w.say("failed", "%v", err)
	default:
		w.say("exported", "%s", t.Month)
	}
	bounded, done := context.WithTimeout(context.WithoutCancel(ctx), leaveMax)
	defer done()
	if err := l.Release(bounded); err != nil {
		w.say("failed", "release: %v", err)
		return
	}
	w.say("released", "%s", l.Token())
}

// acquire asks for the lease of a month. If the place in line is lost because
// the group did not answer, it asks again, at the end of the line.
func (w *worker) acquire(ctx context.Context, t task) (*coordinator.Lease, error) {
	for {
		l, err := w.node.Acquire(ctx, resourceOf(t.Month), coordinator.WithTTL(t.TTL))
		again := errors.Is(err, coordinator.ErrUnavailable) && !errors.Is(err, coordinator.ErrDiskSpace)
		if !again || ctx.Err() != nil {
			return l, err
		}
	}
}

// job sets the job up for a task.
func (w *worker) job(ctx context.Context, t task, l *coordinator.Lease) *job {
	j := &job{
		ledger: w.ledger, fence: w.guard, month: t.Month, stepTime: stepTime,
		work: func(context.Context, page) error { return nil }, // the page is made already
	}
	if !t.Fenced {
		j.fence = unfenced{w.ledger.db}
	}
	j.look = func(p page) {
		switch p.step {
		case t.StopAt:
			w.late = &late{j, l.Token(), p}
			w.waitToGo(ctx, p)
		case t.UnheardAt:
			j.fence = unheard{j.fence, func(r token.Receipt) { w.say("unheard", "%d %s", p.step, r.Value) }}
		}
	}
	j.done = func(p page, r token.Receipt) {
		word := "wrote"
		if r.Repeated {
			word = "repeated"
		}
		w.say(word, "%d %s %s", p.step, r.Value, r.Token)
	}
	return j
}

// waitToGo waits until an order comes, or ctx ends. The lease may end
// meanwhile.
func (w *worker) waitToGo(ctx context.Context, p page) {
	w.say("waiting", "%d", p.step)
	select {
	case <-w.orders:
	case <-ctx.Done():
	}
}

// write makes the write that it was about to make, without a look at the lease.
func (w *worker) write(ctx context.Context) {
	if w.late == nil {
		w.say("failed", "nothing is late")
		return
	}
	receipt, err := w.late.job.commit(ctx, w.late.token, w.late.page)
	var stale *token.StaleError
	switch {
	case errors.As(err, &stale):
		w.say("refused", "%s %s %v", stale.Given, stale.Highest, err)
	case err != nil:
		w.say("failed", "%v", err)
	default:
		w.late.job.done(w.late.page, receipt)
	}
}
