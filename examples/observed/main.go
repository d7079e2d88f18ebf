// Command observed is a program whose locks can be watched: three nodes in this
// one process, under contention, with the page of each, their metrics and their
// logs:
//
//	go run ./examples/observed
//
// It prints where the pages are, and goes on until it is interrupted. Something is
// wrong in it all the time, for the pages to show: look who holds report/daily, who
// waits for it, and why nightly/close is lost again and again.
//
// Read sight.go first: it is all that a program needs. Then node.go for where it
// belongs, and work.go for what goes on.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"
)

// settings are the flags of the command.
type settings struct {
	listen string        // where the pages are served
	last   time.Duration // how long it goes on; 0: until it is interrupted
	breaks time.Duration // when two of the three nodes are closed; 0: never
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var s settings
	flag.StringVar(&s.listen, "listen", "127.0.0.1:8080", "`address` at which the pages are served")
	flag.DurationVar(&s.last, "for", 0, "how long it goes on; 0: until it is interrupted")
	flag.DurationVar(&s.breaks, "break", 0, "after how long two of the three nodes are closed, for the page of node 1 to show; 0: never")
	flag.Parse()
	if err := run(ctx, os.Stdout, os.Stderr, s); err != nil {
		fmt.Fprintln(os.Stderr, "observed:", err)
		os.Exit(1)
	}
}

// run works until ctx ends, or for as long as the settings say. In any case all
// that it has started ends, and its files are removed.
func run(ctx context.Context, out, log io.Writer, s settings) error {
	if s.last > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.last)
		defer cancel()
	}
	dir, err := os.MkdirTemp("", "palisade-observed-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	listener, err := net.Listen("tcp", s.listen)
	if err != nil {
		return err
	}
	site := newSite(slog.New(slog.NewTextHandler(log, nil)))
	server := &http.Server{Handler: site, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer func() {
		_ = server.Close()
		<-served
	}()

	nodes, err := openNodes(ctx, dir, site)
	defer nodes.close()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "the pages:    http://%s/node/1/  /node/2/  /node/3/\n", listener.Addr())
	fmt.Fprintf(out, "the metrics:  http://%s/metrics\n", listener.Addr())
	if s.breaks > 0 {
		defer time.AfterFunc(s.breaks, nodes[1:].close).Stop()
	}
	return work(ctx, nodes)
}
