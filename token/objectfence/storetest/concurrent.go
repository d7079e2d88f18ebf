package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/palisade-go/palisade/token/objectfence"
)

// atOnce runs n functions that begin together, and returns their errors, nil
// for none.
func atOnce(n int, do func(i int) error) error {
	begin := make(chan struct{})
	failed := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Add(1)
		go func() {
			defer all.Done()
			<-begin
			failed[i] = do(i)
		}()
	}
	close(begin)
	all.Wait()
	return errors.Join(failed...)
}

func oneWins(ctx context.Context, t reporter, store objectfence.Store) {
	const rounds, callers = 5, 12
	for round := range rounds {
		match := objectfence.Absent
		if round > 0 {
			object, err := store.Get(ctx, "a")
			if err != nil {
				t.Fatalf("Get: %v", err)
			}
			match = object.ETag
		}
		var mu sync.Mutex
		var winners []string
		err := atOnce(callers, func(i int) error {
			body := fmt.Sprintf("caller %d of round %d", i, round)
			_, err := store.PutIf(ctx, "a", []byte(body), match)
			if errors.Is(err, objectfence.ErrChanged) {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			winners = append(winners, body)
			return err
		})
		if err != nil {
			t.Fatalf("PutIf: %v", err)
		}
		if len(winners) != 1 {
			t.Fatalf("of %d PutIfs at once with ETag %q, %d succeeded: %q", callers, match, len(winners), winners)
		}
		mustGet(ctx, t, store, "a", winners[0])
	}
}

// triesMax is more often than an increment can meet ErrChanged: each time another
// one has succeeded, or a server was in a conflict that it could not tell.
const triesMax = 1000

func noneLost(ctx context.Context, t reporter, store objectfence.Store) {
	const callers, each = 6, 8
	err := atOnce(callers, func(int) error {
		for range each {
			if err := increment(ctx, store); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("increment: %v", err)
	}
	mustGet(ctx, t, store, "count", strconv.Itoa(callers*each))
}

// increment adds one to a number, as often as it has to try.
func increment(ctx context.Context, store objectfence.Store) error {
	for range triesMax {
		count := 0
		object, err := store.Get(ctx, "count")
		if err == nil {
			count, err = strconv.Atoi(string(object.Body))
		} else if errors.Is(err, objectfence.ErrNotFound) {
			err = nil
		}
		if err != nil {
			return err
		}
		_, err = store.PutIf(ctx, "count", []byte(strconv.Itoa(count+1)), object.ETag)
		if !errors.Is(err, objectfence.ErrChanged) {
			return err
		}
	}
	return fmt.Errorf("PutIf with the ETag of the Get before it was refused %d times", triesMax)
}

func wholeBodies(ctx context.Context, t reporter, store objectfence.Store) {
	const size, puts, readers = 1 << 18, 20, 3
	body := func(n int) string { return string(bytes.Repeat([]byte{byte('a' + n)}, size+n)) }
	mustPut(ctx, t, store, "a", body(0), objectfence.Absent)
	written := make(chan struct{})
	err := atOnce(1+readers, func(i int) error {
		if i == 0 {
			defer close(written)
			for n := 1; n <= puts; n++ {
				object, err := store.Get(ctx, "a")
				if err != nil {
					return err
				}
				if _, err := store.PutIf(ctx, "a", []byte(body(n)), object.ETag); err != nil {
					return err
				}
			}
			return nil
		}
		for {
			object, err := store.Get(ctx, "a")
			if err != nil {
				return err
			}
			if n := len(object.Body) - size; n < 0 || n > puts || string(object.Body) != body(n) {
				return fmt.Errorf("a reader got %d bytes that nobody put", len(object.Body))
			}
			select {
			case <-written:
				return nil
			default:
			}
		}
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
}
