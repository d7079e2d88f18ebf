package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/palisade-go/palisade/coordinator"
)

// Do releases when the function has returned, also by a panic. The context it
// passes ends with the caller's or with the lease, and knows what it holds: an
// acquire of the same key inside would wait for itself.
func ExampleCoordinator_Do() {
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

	err = c.Do(ctx, "compaction", func(ctx context.Context, lease *coordinator.Lease) error {
		fmt.Println("inside:", lease.Held(), ctx.Err())
		_, err := c.Acquire(ctx, "compaction")
		fmt.Println("would deadlock:", errors.Is(err, coordinator.ErrWouldDeadlock))
		return errors.New("nothing to compact")
	})
	fmt.Println("Do returns:", err)

	info, err := c.Inspect(ctx, "compaction")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("free:", info.Holder == nil)
	// Output:
	// inside: true <nil>
	// would deadlock: true
	// Do returns: nothing to compact
	// free: true
}
