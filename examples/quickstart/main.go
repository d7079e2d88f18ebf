// Command quickstart shows what a lock with fencing tokens does, on three
// nodes that run in this one process over real TCP and real files:
//
//	go run ./examples/quickstart
//
// It tells a story and checks it. A sentence is printed only after what it
// says was found to be so; if something is not, the program says what happened
// instead and ends with status 1.
//
// Read story.go first, then the chapters in their order: job.go, line.go,
// cutoff.go, failover.go, transfers.go, goodbye.go. The rest is what they
// happen on: cluster.go and link.go for the nodes and the network between
// them, document.go and bank.go for what the locks protect.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/palisade-go/palisade/token"
)

// storyMax bounds the whole program. The story needs some 10 s.
const storyMax = 2 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, token.NewGuard().Do); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

// run tells the whole story to out. It returns the first thing that was not as
// it should be. In any case the nodes are stopped and their files are removed.
func run(ctx context.Context, out io.Writer, guard fence) error {
	ctx, cancel := context.WithTimeout(ctx, storyMax)
	defer cancel()
	dir, err := os.MkdirTemp("", "palisade-quickstart-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	nodes, err := openCluster(ctx, dir)
	if err != nil {
		return err
	}
	defer nodes.close()
	s := &story{out: out, cluster: nodes, document: &document{guard: guard}}
	return s.tellAll(ctx)
}
