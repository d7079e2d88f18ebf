package coordinator_test

import (
	"context"
	"errors"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/transport"
)

// One node of three in production: the same program on each machine, with its
// own NodeID. It works until it is told to stop, then leaves in good order.
func Example_oneOfThree() {
	stop, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	c, err := coordinator.Open(stop, coordinator.Config{
		Dir: "/var/lib/billing/locks", Cluster: "billing", NodeID: 1,
		Peers: map[coordinator.NodeID]string{
			1: "app-1.internal:7400", 2: "app-2.internal:7400", 3: "app-3.internal:7400",
		},
		TLS:    transport.TLS{CAFile: "ca.pem", CertFile: "app-1.pem", KeyFile: "app-1.key"},
		Logger: slog.Default(),
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := c.WaitReady(stop); err != nil {
		log.Print(err) // not fatal: calls wait for a quorum by themselves
	}
	again := time.NewTicker(time.Second)
	defer again.Stop()
	if err := exportUntil(stop, c, again.C, coordinator.WithMaxHold(10*time.Minute)); err != nil {
		log.Print(err)
	}
	// The signal's context has ended; leaving gets one of its own.
	bounded, done := context.WithTimeout(context.Background(), 30*time.Second)
	defer done()
	if err := c.Shutdown(bounded); err != nil {
		log.Print(err, c.Close())
	}
}

// exportUntil exports under the lock, again and again, until stop ends, the node
// is closed or had to stop by itself, or asking again is vain.
func exportUntil(stop context.Context, c *coordinator.Coordinator, again <-chan time.Time, opts ...coordinator.AcquireOption) error {
	for stop.Err() == nil {
		err := c.Do(stop, "invoice-export", export, opts...)
		switch {
		case err == nil || stop.Err() != nil:
			continue
		case errors.Is(err, coordinator.ErrClosed), errors.Is(err, coordinator.ErrInvalid):
			return err
		}
		log.Print(err)
		select { // it may have failed at once, and would the next time
		case <-again:
		case <-stop.Done():
		}
	}
	return nil
}

// export stands for the work: it ends when ctx does, and writes with
// lease.Token().
func export(ctx context.Context, lease *coordinator.Lease) error { return nil }
