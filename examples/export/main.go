// Command export shows what keeps a process that was stopped from overwriting
// the work of the one after it: a job that exports invoices from a database, on
// three nodes that run as three processes.
//
//	go run -C examples/export .
//
// It tells what happens and checks it. A sentence is printed only after what
// it says was found to be so; if something is not, the program says what
// happened instead and ends with status 1. README.md has the output.
//
// # Reading the source
//
// job.go is the part to copy: a loop of bounded steps under a lease, each of
// which is written with the lease's token and an operation id. fence.go says
// what the job needs of a guard; page.go and ledger.go are what it reads and
// writes; worker.go and node.go are the process around it, from its opening to
// its end on SIGTERM.
//
// The rest is the director of the play: process.go and cluster.go for the
// processes, story.go for the order of the chapters overwritten.go, refused.go,
// repeated.go and stopped.go, and export.go for the facts in the database that
// they look at.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/palisade-go/palisade/token/sqlfence"
)

func main() {
	if err := start(os.Args[1:], os.Stdin, os.Stdout, asItIs); err != nil {
		fmt.Fprintln(os.Stderr, "export:", err)
		os.Exit(1)
	}
}

// asItIs is for start: the guard as it is.
func asItIs(g *sqlfence.Guard) fence { return g }

// start is the whole program: the story, or one node of it. The nodes see the
// guard through a lens, with which tests show them one that does not do its
// work.
func start(args []string, in io.Reader, out io.Writer, lens func(*sqlfence.Guard) fence) error {
	s, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	stop, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	if s.node == 0 {
		return tellAll(stop, out, chapters)
	}
	return runNode(stop, s, in, out, lens)
}
