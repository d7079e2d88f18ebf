package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/palisade-go/palisade/coordinator"
)

// How a program ends on SIGTERM, which is what Kubernetes sends before it
// updates or moves a pod, and without losing a lease:
//
//  1. The signal ends a context. Nothing new is begun; what has begun under a
//     lease goes on to its next safe point, and releases.
//  2. Shutdown makes ReadyHandler answer 503 at once, fails whoever waits in
//     line, and waits for the holders, for as long as the longest hold may
//     take from there.
//  3. What is still held then is lost: Close ends it, and tells the groups, so
//     that others go on without waiting for an expiry.
//
// The process must not be killed before that:
//
//	terminationGracePeriodSeconds > preStop + longest hold + Config.CloseMax
//
// With a preStop pause of 5 s, so that clients learn that the pod goes before
// it refuses them, holds of 20 s at most and an election timeout of 1 s, these
// are 5 + 20 + 33 = 58 s: 60 s will do. Have a look at examples/kubernetes.
func ExampleCoordinator_Shutdown() {
	const longestHold = 20 * time.Second
	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer cancel()
	dir, err := os.MkdirTemp("", "palisade")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	c, err := coordinator.Open(stop, coordinator.Config{Dir: dir})
	if err != nil {
		log.Fatal(err)
	}
	began, worked := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(worked)
		lease, err := c.Acquire(stop, "invoice-export") // a signal ends the wait
		if err != nil {
			return
		}
		close(began)
		for stop.Err() == nil && lease.Held() {
			exportOne(lease.Context()) // not stop: what was begun is ended
		}
		fmt.Println("released:", lease.Release(context.Background()))
	}()

	<-began
	terminate() // as Kubernetes does
	<-stop.Done()
	bounded, done := context.WithTimeout(context.Background(), longestHold)
	defer done()
	err = c.Shutdown(bounded)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(err, c.Close()) // ends what is still held
	}
	<-worked
	fmt.Println("shut down:", err)
	// Output:
	// released: <nil>
	// shut down: <nil>
}

// exportOne stands for a part of the work that is not left half done.
func exportOne(ctx context.Context) {
	part := time.NewTimer(10 * time.Millisecond)
	defer part.Stop()
	select {
	case <-part.C:
	case <-ctx.Done(): // the lease is lost
	}
}

func terminate() {
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		log.Fatal(err)
	}
}
