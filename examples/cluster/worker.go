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

// documentKey is the key of the lock that protects the document.
const documentKey = "report"

// worker does with the lock what it is told, and says what comes of it: a word
// and, after a space, the rest of the line. Its methods are called by one
// goroutine.
type worker struct {
	node     *coordinator.Coordinator
	document document
	ttl      time.Duration
	out      io.Writer

	request *request           // nil: none goes on
	lease   *coordinator.Lease // the last that it got; it may have ended
	ended   <-chan struct{}    // Done of the lease; nil when nothing is left to be said about it
}

// say prints a line. Nobody may be there to read it, which changes nothing.
func (w *worker) say(word, format string, args ...any) {
	fmt.Fprintln(w.out, strings.TrimSpace(word+" "+fmt.Sprintf(format, args...)))
}

// obey carries out an order. All but acquire are done when it returns.
func (w *worker) obey(ctx context.Context, order string) {
	name, text, _ := strings.Cut(strings.TrimSpace(order), " ")
	switch name {
	case "acquire":
		w.acquire(ctx)
	case "write":
		w.write(text)
	case "ask":
		if err := w.lease.Err(); err != nil {
			w.say("ended", "%v", err)
			return
		}
		w.say("held", "%s", w.lease.Token())
	case "renew":
		// More than is left of the window, unless it was renewed just now.
		w.answer(w.lease.Ensure(ctx, w.ttl*17/20), "renewed")
	case "release":
		w.ended = nil
		w.answer(w.lease.Release(ctx), "released")
	default:
		w.say("failed", "the orders are: acquire, write TEXT, ask, renew, release")
	}
}

func (w *worker) answer(err error, done string) {
	if err != nil {
		w.say("failed", "%v", err)
		return
	}
	w.say(done, "%s", w.lease.Token())
}

// acquire asks for the lock. The answer comes when it comes.
func (w *worker) acquire(ctx context.Context) {
	if w.request != nil || w.lease.Held() {
		w.say("failed", "the lock is held, or asked for already")
		return
	}
	w.request = begin(ctx, w.node)
}

// take takes the answer to acquire.
func (w *worker) take(ctx context.Context, got grant) {
	w.request = nil
	switch {
	case got.err == nil:
		w.lease, w.ended = got.lease, got.lease.Done()
		w.say("acquired", "%s", w.lease.Token())
	case ctx.Err() != nil:
		// It was told to stop, and that ended the wait.
	case errors.Is(got.err, coordinator.ErrUnavailable) && !errors.Is(got.err, coordinator.ErrDiskSpace):
		// The place in line was lost with the quorum. A new one waits, too.
		w.say("unavailable", "%v", got.err)
		w.acquire(ctx)
	default:
		w.say("failed", "%v", got.err)
	}
}

// write writes the document. It does not ask the lease before: any pause fits
// between the question and the write. The document looks at the token.
func (w *worker) write(text string) {
	switch err := w.document.write(w.lease.Token(), text); {
	case errors.Is(err, token.ErrStale):
		w.say("refused", "%v", err)
	default:
		w.answer(err, "wrote")
	}
}

// lose is called when the lease has ended although nobody released it.
func (w *worker) lose() {
	w.ended = nil
	w.say("lost", "%v", w.lease.Err())
}

// giveBack releases what is held. The lock may have been granted at the moment
// in which the wait for it was given up.
func (w *worker) giveBack(ctx context.Context) error {
	if w.request != nil {
		if got := <-w.request.answer(); got.err == nil {
			w.lease = got.lease
		}
	}
	if !w.lease.Held() {
		return nil
	}
	if err := w.lease.Release(ctx); err != nil {
		return err
	}
	w.say("released", "%s", w.lease.Token())
	return nil
}
