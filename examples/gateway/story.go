package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/palisade-go/palisade/coordinator"
)

// story is what the chapters share.
type story struct {
	out     io.Writer
	locks   *coordinator.Coordinator
	service *service
	open    opener
	fences  string // the gateway's directory
	door    *door  // nil while no gateway runs

	late *worker // who was too late in the second chapter
	last *worker // who came after it
}

// tellAll tells the chapters in their order.
func (s *story) tellAll(ctx context.Context) error {
	fmt.Fprintln(s.out, `A service keeps a document and checks nothing. Whoever writes it takes the lock "report" before.`)
	for i, chapter := range []struct {
		title string
		tell  func(context.Context) error
	}{
		{"Straight to the service", s.writeDirectly},
		{"Through the gateway", s.writeThroughGateway},
		{"An answer is lost", s.loseAnswer},
		{"The gateway is restarted", s.restart},
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

// has checks what the service has, looking around the gateway.
func (s *story) has(want string) error {
	if text := s.service.text(); text != want {
		return fmt.Errorf("the document reads %q, not %q", text, want)
	}
	return nil
}

// patience bounds each wait of the story. It is far above what is needed, also
// on a busy machine.
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
