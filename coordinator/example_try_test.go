package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/palisade-go/palisade/coordinator"
)

// A try never waits in line. Its error names who is in the way.
func ExampleCoordinator_TryAcquire() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "palisade")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	c, err := coordinator.Open(ctx, coordinator.Config{Dir: dir})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	lease, err := c.TryAcquire(ctx, "nightly", coordinator.WithMetadata("export of May"))
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Release(ctx)

	_, err = c.TryAcquire(ctx, "nightly")
	fmt.Println("busy:", errors.Is(err, coordinator.ErrBusy))
	var busy *coordinator.BusyError
	if errors.As(err, &busy) {
		for _, holder := range busy.Holders {
			fmt.Printf("%s is held by node %d: %s\n", holder.Key, holder.Node, holder.Metadata)
		}
	}
	// Output:
	// busy: true
	// nightly is held by node 1: export of May
}
