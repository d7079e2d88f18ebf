package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/palisade-go/palisade/coordinator"
)

// leaveMax is how long a node that is told to stop waits for the confirmation
// that its lock is released. Without a quorum there is none.
const leaveMax = 5 * time.Second

// runNode opens a node and carries out orders, one after the other, until stop
// ends or the orders do. Then it leaves. A process that another one has
// started thus ends with it: the orders come through a pipe, which the system
// closes when the other one is gone, however that came about.
func runNode(stop context.Context, s settings, in io.Reader, out io.Writer) error {
	// When nobody reads any more what it says, it goes on to the end.
	signal.Ignore(syscall.SIGPIPE)
	if err := makeCertificates(s.dir); err != nil {
		return err
	}
	node, err := coordinator.Open(stop, s.config())
	if err != nil {
		return err
	}
	w := &worker{node: node, document: s.document(), ttl: s.ttl, out: out}
	w.say("opened", "incarnation %d, process %d", node.Status().Incarnation, os.Getpid())
	err = work(stop, w, in)
	return errors.Join(err, w.leave())
}

// work carries out orders until stop ends, the orders do, or the other nodes
// refuse this one. Between two orders nothing is left half done: there it may
// stop.
func work(stop context.Context, w *worker, in io.Reader) error {
	ctx, cancel := context.WithCancel(stop)
	defer cancel()
	ready := make(chan error, 1)
	go func() { ready <- w.node.WaitReady(ctx) }()
	orders := readLines(ctx, in)
	for {
		select {
		case <-stop.Done():
			return nil
		case err := <-ready:
			if stop.Err() != nil {
				return nil
			}
			if err != nil {
				return err
			}
			w.say("ready", "")
		case order, more := <-orders:
			if !more {
				return nil
			}
			w.obey(ctx, order)
		case place := <-w.request.place():
			w.say("waiting", "%s", place)
		case answer := <-w.request.answer():
			w.take(ctx, answer)
		case <-w.ended:
			w.lose()
		}
	}
}

// readLines reads lines into a channel, which it closes at their end. Lines
// that come after ctx has ended are dropped.
func readLines(ctx context.Context, in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(in); scanner.Scan(); {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

// leave is the recipe for SIGTERM: nothing new is begun, what is held is
// released at a safe point, and only what is not confirmed in time is left to
// Close, which ends it. Others go on at once, without waiting for an expiry.
func (w *worker) leave() error {
	bounded, done := context.WithTimeout(context.Background(), leaveMax)
	defer done()
	released := w.giveBack(bounded)
	err := w.node.Shutdown(bounded)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(err, w.node.Close())
	}
	if err = errors.Join(released, err); err != nil {
		return fmt.Errorf("leave: %w", err)
	}
	w.say("stopped", "")
	return nil
}
