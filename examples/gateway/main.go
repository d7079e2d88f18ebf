// Command gateway puts a check of fencing tokens before a service that has
// none:
//
//	go run ./examples/gateway
//
// It tells a story and checks it. A sentence is printed only after what it says
// was found to be so; if something is not, the program says what happened
// instead and ends with status 1.
//
// Read story.go first, then the chapters in their order: direct.go, guarded.go,
// repeated.go, restarted.go. The rest is what they happen on: service.go for the
// service, door.go for the gateway, worker.go for those who write, and network.go
// for what can happen to a request on its way.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/palisade-go/palisade/coordinator"
)

// storyMax bounds the whole program. The story needs some 5 s.
const storyMax = time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, openGateway); err != nil {
		fmt.Fprintln(os.Stderr, "gateway:", err)
		os.Exit(1)
	}
}

// run tells the whole story to out. It returns the first thing that was not as
// it should be. In any case all that it has started ends, and its files are
// removed.
func run(ctx context.Context, out io.Writer, open opener) error {
	ctx, cancel := context.WithTimeout(ctx, storyMax)
	defer cancel()
	dir, err := os.MkdirTemp("", "palisade-gateway-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	locks, err := coordinator.Open(ctx, coordinator.Config{Dir: filepath.Join(dir, "node")})
	if err != nil {
		return err
	}
	defer locks.Close()
	if err := locks.WaitReady(ctx); err != nil {
		return err
	}
	service, err := startService()
	if err != nil {
		return err
	}
	defer service.stop()
	s := &story{out: out, locks: locks, service: service, open: open, fences: filepath.Join(dir, "fences")}
	defer func() { _ = s.closeDoor() }() // the story has ended, well or not
	return s.tellAll(ctx)
}
