package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/palisade-go/palisade/coordinator"
)

// The context of an acquire bounds the wait in line and nothing else. The hold
// ends by Release, and the lease's own context tells why.
func ExampleCoordinator_Acquire() {
	dir, err := os.MkdirTemp("", "palisade")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	c, err := coordinator.Open(context.Background(), coordinator.Config{Dir: dir})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	lease, err := c.Acquire(ctx, "invoice-export", coordinator.WithTTL(5*time.Second))
	if err != nil {
		log.Fatal(err)
	}
	cancel() // the wait is over, so this changes nothing
	fmt.Println("owned:", lease.Held())

	// Every acquire is an owner of its own, this one too: it waits in line.
	_, err = c.Acquire(context.Background(), "invoice-export", coordinator.WithWait(50*time.Millisecond))
	fmt.Println("waited in vain:", errors.Is(err, context.DeadlineExceeded))

	if err := lease.Release(context.Background()); err != nil {
		log.Fatal(err)
	}
	<-lease.Done()
	fmt.Println("owned:", lease.Held())
	fmt.Println("why:", context.Cause(lease.Context()))
	// Output:
	// owned: true
	// waited in vain: true
	// owned: false
	// why: the lease was released
}
