package coordinator_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/palisade-go/palisade/coordinator"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "palisade") // a service has a directory that stays
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	c, err := coordinator.Open(ctx, coordinator.Config{Dir: dir})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	lease, err := c.Acquire(ctx, "invoice-export")
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Release(ctx)
	// Pass lease.Context() to what you do, and lease.Token() to what you write.
	fmt.Println("mine:", lease.Held(), "with a token:", lease.Token().Valid())
	// Output: mine: true with a token: true
}
