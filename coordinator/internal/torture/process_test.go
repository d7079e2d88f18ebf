package torture

import (
	"context"
	"errors"
	"fmt"
	"net/rpc"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/palisade-go/palisade/internal/childtest"
)

// process is one incarnation of a node, as its parent sees it. One goroutine
// uses it.
type process struct {
	number      int
	incarnation uint64
	cmd         *exec.Cmd
	log         *os.File
	orders      *rpc.Client
	limit       time.Duration // of an order
	gone        chan struct{} // closed when the process has ended, and all that it wrote is in the register
	sample      Sample        // the last
}

// startProcess starts a process, which is no node yet.
func startProcess(number int, logName string, register *Register, limit time.Duration) (*process, error) {
	log, err := os.OpenFile(logName, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	p := &process{number: number, cmd: exec.Command(os.Args[0]), log: log, limit: limit, gone: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), nodeVariable+"=1")
	p.cmd.Stdout, p.cmd.Stderr = log, log
	// A process group of its own keeps the terminal's Ctrl-C from the nodes. And
	// if the parent is killed while a node is stopped with SIGSTOP, the system
	// finds a group with a stopped process that nobody can continue any more, and
	// sends it SIGHUP and SIGCONT.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	orders, theirOrders, err := childtest.SocketPair()
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	calls, theirCalls, err := childtest.SocketPair()
	if err != nil {
		return nil, errors.Join(err, log.Close(), orders.Close(), theirOrders.Close())
	}
	p.cmd.ExtraFiles = []*os.File{theirOrders, theirCalls} // from 3 on
	err = p.cmd.Start()
	if err := errors.Join(err, theirOrders.Close(), theirCalls.Close()); err != nil {
		return nil, errors.Join(err, log.Close(), orders.Close(), calls.Close())
	}
	p.orders = rpc.NewClient(orders)
	server := rpc.NewServer()
	if err := server.RegisterName("Register", register); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.gone)
		server.ServeConn(calls)
	}()
	return p, nil
}

// ask gives an order and waits for the answer. A process that does not answer
// within the limit is stuck.
func (p *process) ask(what string, args, answer any) error {
	return p.askWithin(p.limit, what, args, answer)
}

func (p *process) askWithin(d time.Duration, what string, args, answer any) error {
	call := p.orders.Go("Node."+what, args, answer, make(chan *rpc.Call, 1))
	limit := time.NewTimer(d)
	defer limit.Stop()
	select {
	case <-call.Done:
		if call.Error != nil {
			return fmt.Errorf("%s of node %d: %w", what, p.number, call.Error)
		}
		return nil
	case <-limit.C:
		return fmt.Errorf("%s of node %d: no answer within %v", what, p.number, d)
	}
}

// look takes a sample.
func (p *process) look() error {
	var s Sample // gob sends no zeros, so what was there would stay
	err := p.ask("Look", Nothing{}, &s)
	if err == nil {
		p.sample = s
	}
	return err
}

func (p *process) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("send %v to node %d: %w", s, p.number, err)
	}
	return nil
}

// stop stops the process with SIGSTOP, and returns when it stands still.
func (p *process) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), p.limit)
	defer cancel()
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGCHLD)
	defer signal.Stop(changed)
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(p.cmd.Process.Pid, &status, syscall.WNOHANG|syscall.WUNTRACED, nil)
		switch {
		case err != nil:
			return fmt.Errorf("look whether node %d stands still: %w", p.number, err)
		case pid == p.cmd.Process.Pid && status.Stopped():
			return nil
		case pid == p.cmd.Process.Pid:
			return fmt.Errorf("node %d should stand still, but it has ended: %v", p.number, status)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("node %d should stand still: %w", p.number, ctx.Err())
		}
	}
}

// kill ends the process with SIGKILL, paused or not, and checks that this is
// what it ended of.
func (p *process) kill() error {
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	state, err := p.wait()
	if err != nil {
		return err
	}
	if status, ok := state.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		return fmt.Errorf("node %d should have been killed, but it had ended by itself: %v", p.number, state)
	}
	return nil
}

// close waits for the end of a process whose node is closed.
func (p *process) close() error {
	if err := p.orders.Close(); err != nil {
		return err
	}
	state, err := p.wait()
	if err != nil {
		return err
	}
	if !state.Success() {
		return fmt.Errorf("node %d should have ended well: %v", p.number, state)
	}
	return nil
}

// wait waits until the process has ended and all that it wrote is in the
// register.
func (p *process) wait() (*os.ProcessState, error) {
	limit := time.NewTimer(p.limit)
	defer limit.Stop()
	select {
	case <-p.gone:
	case <-limit.C:
		return nil, fmt.Errorf("node %d does not end within %v", p.number, p.limit)
	}
	_ = p.cmd.Wait() // the state tells it better
	_ = p.orders.Close()
	return p.cmd.ProcessState, p.log.Close()
}

// dump makes a process that may be stuck say in its log what it has and what
// its goroutines do, and ends it.
func (p *process) dump() {
	const patience = 10 * time.Second
	_ = p.signal(syscall.SIGCONT)
	var s Sample
	var state []string
	err := errors.Join(p.askWithin(patience, "Look", Nothing{}, &s), p.askWithin(patience, "State", Nothing{}, &state))
	_, _ = fmt.Fprintf(p.log, "\n%+v\n%s\n%v\n", s, strings.Join(state, "\n"), err)
	_ = p.signal(syscall.SIGQUIT)
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-p.gone:
	case <-limit.C:
		_ = p.signal(syscall.SIGKILL)
	}
	_, _ = p.wait()
}
