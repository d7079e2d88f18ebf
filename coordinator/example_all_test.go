package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/palisade-go/palisade/coordinator"
)

// Several keys are taken all or none, and never in a way that deadlocks,
// whatever order they are named in. Each key has its own token.
func ExampleCoordinator_AcquireAll() {
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

	set, err := c.AcquireAll(ctx, []string{"account/bob", "account/alice"})
	if err != nil {
		log.Fatal(err)
	}
	for _, key := range set.Keys() {
		fence, owned := set.Token(key)
		fmt.Println(key, owned, fence.Valid())
	}

	// carol's account is free, but alice's is not: this gets neither.
	_, err = c.TryAcquireAll(ctx, []string{"account/carol", "account/alice"})
	fmt.Println("busy:", errors.Is(err, coordinator.ErrBusy))

	if err := set.Release(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("held:", set.Held())
	// Output:
	// account/alice true true
	// account/bob true true
	// busy: true
	// held: false
}
