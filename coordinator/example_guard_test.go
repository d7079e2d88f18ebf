package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/token"
)

// A process that was paused can write after its lease has ended. The resource
// keeps it out: it remembers the greatest token it has seen and refuses lower
// ones.
func ExampleLease_Token() {
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

	guard := token.NewGuard() // stands where the document is
	document := ""
	write := func(text string, fence token.Token) error {
		return guard.Do("document", fence, func() error {
			document = text
			return nil
		})
	}
	paused, err := c.Acquire(ctx, "document")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("owner:", write("draft", paused.Token()))
	if err := paused.Release(ctx); err != nil { // or its node was not heard in time
		log.Fatal(err)
	}
	next, err := c.Acquire(ctx, "document")
	if err != nil {
		log.Fatal(err)
	}
	defer next.Release(ctx)
	fmt.Println("next owner:", write("edition", next.Token()))

	err = write("draft, continued", paused.Token())
	fmt.Println("late writer is stale:", errors.Is(err, token.ErrStale))
	fmt.Println("document:", document)
	// Output:
	// owner: <nil>
	// next owner: <nil>
	// late writer is stale: true
	// document: edition
}
