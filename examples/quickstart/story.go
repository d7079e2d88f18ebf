package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/palisade-go/palisade/coordinator"
)

// story is what the chapters share.
type story struct {
	out      io.Writer
	cluster  *cluster
	document *document
}

// tellAll tells the chapters in their order. Each leaves all nodes running and
// all locks free for the next.
func (s *story) tellAll(ctx context.Context) error {
	fmt.Fprintln(s.out, "Three nodes run in this process, over real TCP and real files.")
	for i, chapter := range []struct {
		title string
		tell  func(context.Context) error
	}{
		{"A job takes a lock", s.takeLock},
		{"Contenders wait in line", s.standInLine},
		{"The holder is cut off", s.cutHolderOff},
		{"The leader fails", s.failLeader},
		{"Transfers take several keys", s.transferMoney},
		{"The nodes stop", s.sayGoodbye},
	} {
		fmt.Fprintf(s.out, "\n%d. %s\n", i+1, chapter.title)
		if err := chapter.tell(ctx); err != nil {
			return fmt.Errorf("chapter %d, %q: %w", i+1, chapter.title, err)
		}
	}
	return nil
}

// tell prints one sentence. The caller has checked that it is true.
func (s *story) tell(format string, args ...any) {
	fmt.Fprintf(s.out, "   "+format+"\n", args...)
}

// grant is the answer of an Acquire that ran in a goroutine of its own.
type grant struct {
	lease *coordinator.Lease
	err   error
}

// patience bounds each wait of the story. It is far above what is needed, also
// on a busy machine: what does not happen in that time does not happen.
const patience = 30 * time.Second

// await returns what comes on a channel, or why nothing did.
func await[T any](ctx context.Context, what string, from <-chan T) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case v := <-from:
		return v, nil
	case <-ctx.Done():
		var none T
		return none, fmt.Errorf("waiting for %s: %w", what, ctx.Err())
	}
}

// pollEvery is how often the state of a key is looked at, where the API has
// no signal to wait for.
const pollEvery = 20 * time.Millisecond

// waitUntil asks again and again until the answer is yes. A group that does
// not answer in time, as on a very busy machine, is asked again.
func waitUntil(ctx context.Context, what string, ask func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		yes, err := ask()
		if err != nil && !errors.Is(err, coordinator.ErrUnavailable) {
			return fmt.Errorf("waiting until %s: %w", what, err)
		}
		if yes && err == nil {
			return nil
		}
		if _, err := await(ctx, "the moment that "+what, ticker.C); err != nil {
			return err
		}
	}
}
