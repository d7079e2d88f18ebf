// Command cluster runs three nodes as three processes, over TCP with TLS and
// with a directory each, and does to them what happens to processes: one is
// killed while it holds a lock, one is paused for longer than its lease lasts,
// and all are restarted.
//
//	go run ./examples/cluster
//
// It tells what happens and checks it. A sentence is printed only after what
// it says was found to be so; if something is not, the program says what
// happened instead and ends with status 1. README.md has the output.
//
// # By hand
//
// Each of the three processes takes its orders from its standard input. So you
// can be the one who gives them, in three terminals:
//
//	go run ./examples/cluster -node 1
//	go run ./examples/cluster -node 2
//	go run ./examples/cluster -node 3
//
// The nodes listen on 127.0.0.1, at the ports 7401, 7402 and 7403. Their data
// is in palisade-cluster below the working directory: node-1, node-2 and
// node-3, the file that the lock protects, and the certificates, which the
// first node that starts makes for all. Remove palisade-cluster to begin anew.
//
// When all three have said "ready", type an order and Enter:
//
//	acquire      stand in line for the lock "report"
//	write TEXT   write the file, with the token of the last lease
//	ask          ask the lease whether it is held
//	renew        renew the lease now, and wait until that is confirmed
//	release      give the lock up
//
// A node answers each order, and says "lost" by itself when its lease is lost.
// Kill a process that has the lock, or pause it with Ctrl-Z and go on with fg
// when another one has got the lock and has written. Ctrl-C, SIGTERM and the end of the
// input stop a node in good order.
//
// # Reading the source
//
// node.go is the part that a program of yours would have: a node, from its
// opening to its end on SIGTERM. settings.go has its Config, certificates.go
// what TLS needs, worker.go what is done with the lock, and document.go a file
// that checks tokens. The rest is the director of the play: cluster.go,
// process.go and ports.go for the processes, story.go for the order of the
// chapters killed.go, paused.go, restarted.go and stopped.go.
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
)

func main() {
	if err := start(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

// start is the whole program: the story, or one node of it.
func start(args []string, in io.Reader, out io.Writer) error {
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
		return tellAll(stop, out)
	}
	return runNode(stop, s, in, out)
}
