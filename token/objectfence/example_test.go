package objectfence_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/objectfence"
)

// A holder that was paused comes back after the next one has written, and the
// next one repeats what was done already.
func Example() {
	dir, err := os.MkdirTemp("", "objects")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := objectfence.OpenFileStore(dir)
	if err != nil {
		log.Fatal(err)
	}
	guard, err := objectfence.New(objectfence.Config{Store: store})
	if err != nil {
		log.Fatal(err)
	}

	// report adds a line; the token is that of the lease.
	report := func(fence token.Token, day token.Operation, line string) {
		w := token.Write{Resource: "report", Token: fence, Operation: day}
		receipt, err := guard.Do(context.Background(), w, func(_ context.Context, old []byte) (objectfence.Update, error) {
			body := append(old, line...)
			return objectfence.Update{Body: body, Value: fmt.Appendf(nil, "%d bytes", len(body))}, nil
		})
		fmt.Printf("%s, token %s, repeated %t, error %v\n", receipt.Value, receipt.Token, receipt.Repeated, err)
	}
	report(33, "monday", "one\n")
	report(34, "tuesday", "two\n")
	report(33, "wednesday", "late\n")
	report(34, "monday", "one\n")
	content, err := guard.Current(context.Background(), "report")
	fmt.Printf("%q, token %s, error %v\n", content.Body, content.Token, err)
	// Output:
	// 4 bytes, token 33, repeated false, error <nil>
	// 8 bytes, token 34, repeated false, error <nil>
	// , token 0, repeated false, error token: stale: resource "report" refuses token 33, it has accepted 34
	// 4 bytes, token 33, repeated true, error <nil>
	// "one\ntwo\n", token 34, error <nil>
}

// Versions to which nothing points are listed first, and deleted last.
func ExampleGuard_Collect() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "objects")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := objectfence.OpenFileStore(dir)
	if err != nil {
		log.Fatal(err)
	}
	guard, err := objectfence.New(objectfence.Config{Store: store})
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{"first", "second", "third"} {
		w := token.Write{Resource: "report", Token: 5}
		if _, err := guard.Do(ctx, w, func(context.Context, []byte) (objectfence.Update, error) {
			return objectfence.Update{Body: []byte(text)}, nil
		}); err != nil {
			log.Fatal(err)
		}
	}

	listed, err := store.List(ctx)
	if err != nil {
		log.Fatal(err)
	}
	garbage, err := guard.Collect(ctx, "report", listed)
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range garbage {
		if err := store.Remove(ctx, name); err != nil {
			log.Fatal(err)
		}
	}
	content, err := guard.Current(ctx, "report")
	fmt.Println(len(listed), "objects,", len(garbage), "deleted:", string(content.Body), err)
	// Output: 4 objects, 2 deleted: third <nil>
}
