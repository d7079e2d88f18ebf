package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"syscall"
	"time"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/token/sqlfence"
)

// leaveMax is how long a node that is told to stop waits for the confirmation
// that its lease is released. Without a quorum there is none.
const leaveMax = 5 * time.Second

// runNode opens a node and the database, and carries out orders, one after the
// other, until stop ends or the orders do. Then it leaves. A process that
// another one has started thus ends with it: the orders come through a pipe,
// which the system closes when the other one is gone, however that came about.
func runNode(
	stop context.Context, s settings, in io.Reader, out io.Writer, lens func(*sqlfence.Guard) fence,
) (err error) {
	// When nobody reads any more what it says, it goes on to the end.
	signal.Ignore(syscall.SIGPIPE)
	ledger, err := openLedger(stop, databaseIn(s.dir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.close()) }()
	guard, err := openGuard(stop, ledger)
	if err != nil {
		return err
	}
	node, err := coordinator.Open(stop, s.config())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(stop)
	defer cancel()
	w := &worker{node: node, ledger: ledger, guard: lens(guard), orders: readLines(ctx, cancel, in), out: out}
	w.say("opened", "")
	return errors.Join(w.work(ctx), leave(w))
}

// readLines reads lines into a channel. At their end, whatever goes on is given
// up. Lines that come after ctx has ended are dropped.
func readLines(ctx context.Context, atEnd context.CancelFunc, in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer atEnd()
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

// leave is the recipe for SIGTERM: what is held was released at a safe point,
// and only what is not confirmed in time is left to Close, which ends it.
func leave(w *worker) error {
	bounded, done := context.WithTimeout(context.Background(), leaveMax)
	defer done()
	err := w.node.Shutdown(bounded)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(err, w.node.Close())
	}
	if err != nil {
		return fmt.Errorf("leave: %w", err)
	}
	w.say("stopped", "")
	return nil
}
