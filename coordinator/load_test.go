package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/token"
)

// load is some goroutines of a node's process that acquire keys, enter the
// register that they protect, write there, and release.
type load struct {
	process *nodeProcess
	ctx     context.Context
	stop    context.CancelFunc
	workers sync.WaitGroup
}

// Load is what a process is asked to do. Each worker keeps to one key.
type Load struct {
	Workers int
	Keys    []string
}

// Entry is one step of a holder in the register of a key.
type Entry struct {
	Node  coordinator.NodeID
	Key   string
	Token token.Token
}

// StartLoad lets workers run until Rest.
func (p *nodeProcess) StartLoad(l Load, _ *Nothing) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.load = &load{process: p}
	p.load.ctx, p.load.stop = context.WithCancel(context.Background())
	for w := range l.Workers {
		p.load.workers.Add(1)
		go func() {
			defer p.load.workers.Done()
			for p.load.ctx.Err() == nil {
				if err := p.load.section(l.Keys[w%len(l.Keys)]); err != nil {
					p.load.report(err)
					return
				}
			}
		}()
	}
	return nil
}

// Rest lets the workers finish, and waits until the node has nothing left in
// any group.
func (p *nodeProcess) Rest(Nothing, *Nothing) error {
	p.load.stop()
	p.load.workers.Wait()
	// Withdrawals go on after their callers have left.
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	enough := time.NewTimer(patience)
	defer enough.Stop()
	for p.node.Status().Requests > 0 {
		select {
		case <-again.C:
		case <-enough.C:
			return fmt.Errorf("%d requests are left after the last caller", p.node.Status().Requests)
		}
	}
	return nil
}

// report tells the parent what is wrong.
func (l *load) report(wrong error) {
	fault := fmt.Sprintf("node %d: %v", l.process.number, wrong)
	if err := l.process.register.Call("Register.Report", fault, &Nothing{}); err != nil {
		complain(errors.Join(wrong, err))
	}
}

// section is one hold. What it returns is a fault of the locks; a lease that
// could not be had or was lost is none.
func (l *load) section(key string) error {
	lease, err := l.process.node.Acquire(l.ctx, key)
	if err != nil {
		if l.ctx.Err() != nil || errors.Is(err, coordinator.ErrUnavailable) || errors.Is(err, coordinator.ErrLeaseLost) {
			return nil
		}
		return err
	}
	const writes = 3
	entry := Entry{l.process.number, key, lease.Token()}
	if err = l.step(lease, "Register.Enter", entry); err == nil {
		for range writes {
			if err = l.step(lease, "Register.Write", entry); err != nil {
				break
			}
		}
	}
	if err != nil && !errors.Is(err, errLost) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := lease.Release(ctx); err != nil && !errors.Is(err, coordinator.ErrLeaseLost) {
		return err
	}
	return nil
}

// errLost says that the register has refused a token whose lease was lost.
var errLost = errors.New("the lease is lost, and the register has noticed")

// step asks the register for one step. When it refuses, somebody with a
// greater token has been there: if the lease is still held then, two were
// held at one time.
func (l *load) step(lease *coordinator.Lease, method string, e Entry) error {
	var refused bool
	if err := l.process.register.Call(method, e, &refused); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	switch {
	case !refused:
		return nil
	case lease.Held():
		return fmt.Errorf("token %s of %q is still held, but a greater one was in use", e.Token, e.Key)
	}
	return errLost
}
