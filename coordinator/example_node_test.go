package coordinator_test

import (
	"context"
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
	for stop.Err() == nil && c.Status().Err == nil {
		err := c.Do(stop, "invoice-export", func(ctx context.Context, lease *coordinator.Lease) error {
			return export(ctx, lease) // ends when ctx does, and writes with lease.Token()
		})
		if err != nil {
			log.Print(err)
		}
	}
	// The signal's context has ended; leaving gets one of its own.
	bounded, done := context.WithTimeout(context.Background(), 30*time.Second)
	defer done()
	if err := c.Shutdown(bounded); err != nil {
		log.Print(err, c.Close())
	}
}

func export(context.Context, *coordinator.Lease) error { return nil }
