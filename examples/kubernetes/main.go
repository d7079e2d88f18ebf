// Command kubernetes is a worker that runs in three pods of a StatefulSet, of
// which one at a time works. It shows what a program with a node inside needs
// to live in Kubernetes:
//
//   - settings.go: the members from the pod's host name, and the Config;
//   - probes.go: /livez and /readyz;
//   - worker.go: a lease, work in steps under it, and a safe point between
//     two steps;
//   - main.go: how the program ends on SIGTERM without losing the lease;
//   - manifests: StatefulSet, Service, PodDisruptionBudget, NetworkPolicy. The
//     test of this package checks that they fit the program.
//
// It also runs without Kubernetes, as three processes on one machine:
//
//	go run ./examples/kubernetes -insecure -dir /tmp/n1 -node 1 -http 127.0.0.1:8081 \
//	  -peers 1=127.0.0.1:7401,2=127.0.0.1:7402,3=127.0.0.1:7403
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/palisade-go/palisade/coordinator"
)

func main() {
	if err := start(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "kubernetes:", err)
		os.Exit(1)
	}
}

// start reads the settings and runs until the process is told to stop.
func start(args []string, out io.Writer) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	s, err := parse(args, host)
	if err != nil {
		return err
	}
	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer cancel()
	return run(stop, s, out)
}

// run opens the node and works until stop ends, or the node had to stop by
// itself. Then it leaves.
func run(stop context.Context, s settings, out io.Writer) error {
	node, err := coordinator.Open(stop, s.config())
	if err != nil {
		return err
	}
	probes, err := serveProbes(s.http, node)
	if err != nil {
		return errors.Join(err, node.Close())
	}
	fmt.Fprintf(out, "node %d is open\n", s.node)
	again := time.NewTicker(askAgainEach)
	defer again.Stop()
	w := &worker{node: node, key: s.key, step: s.step, out: out, again: again.C}
	worked := make(chan error, 1)
	go func() { worked <- w.run(stop) }()
	select {
	case <-stop.Done():
	case err = <-worked: // the worker, or its node, can't go on
		worked <- err
	}
	left := leave(node, s)
	err = errors.Join(left, <-worked, node.Status().Err, probes.close())
	if err == nil {
		fmt.Fprintf(out, "node %d has left\n", s.node)
	}
	return err
}

// leave is the recipe for SIGTERM. By now nothing new is begun. From here on
// ReadyHandler answers 503; whoever waits in line fails; whoever holds a lease
// has as long as a step may take to come to its safe point and release. Only
// what is still held after that is lost, by Close.
//
// The probes go on being answered meanwhile: a process that does not answer
// looks dead. What bounds all this is terminationGracePeriodSeconds, see
// manifests/statefulset.yaml.
func leave(node *coordinator.Coordinator, s settings) error {
	bounded, done := context.WithTimeout(context.Background(), s.hold)
	defer done()
	err := node.Shutdown(bounded)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(err, node.Close())
	}
	return err
}
