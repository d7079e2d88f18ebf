package coordinator_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/palisade-go/palisade/coordinator"
)

// A request that has an id can be joined by a second caller on the same node,
// and be asked about when an answer was lost.
func ExampleCoordinator_Resolve() {
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

	const key, id = "order/4711", "payment-of-order-4711"
	first, err := c.Acquire(ctx, key, coordinator.WithRequestID(id))
	if err != nil {
		log.Fatal(err)
	}
	second, err := c.Acquire(ctx, key, coordinator.WithRequestID(id))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the same lease:", first.Token() == second.Token())

	state, err := c.Resolve(ctx, key, id)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(state.State, state.Token == first.Token())

	// Absent is for good: nothing that was sent before can change it.
	state, err = c.Resolve(ctx, key, "refund-of-order-4711")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(state.State)

	// A Release ends the lease for both.
	if err := first.Release(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(second.Held())
	// Output:
	// the same lease: true
	// owned true
	// absent
	// false
}
