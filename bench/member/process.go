package member

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/rpc"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// stopMax is how long a process may take to end when it is asked to.
const stopMax = 30 * time.Second

// Process is a running member.
type Process struct {
	name  string
	cmd   *exec.Cmd
	calls *rpc.Client // nil: another program
	ended chan struct{}
	log   string
}

// Start runs another program. What it prints goes to the file name.log in dir,
// which is also its working directory.
func Start(dir, name string, cmd *exec.Cmd) (*Process, error) {
	log, err := os.OpenFile(filepath.Join(dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &Process{name: name, cmd: cmd, ended: make(chan struct{}), log: log.Name()}
	go func() {
		defer close(p.ended)
		_ = cmd.Wait() // how it ended is only of interest where nobody asked it to
	}()
	return p, nil
}

// StartRole runs this program again in a role that Serve knows.
func StartRole(dir, name, role string) (*Process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.ExtraFiles = []*os.File{theirs}
	p, err := Start(dir, name, cmd)
	if err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	p.calls = rpc.NewClient(ours)
	return p, nil
}

// socketPair returns two ends of a connection: one to use, one to inherit.
func socketPair() (net.Conn, *os.File, error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a pair of sockets: %w", err)
	}
	mine := os.NewFile(uintptr(fds[0]), "parent")
	defer mine.Close()
	theirs := os.NewFile(uintptr(fds[1]), "child")
	conn, err := net.FileConn(mine)
	if err != nil {
		return nil, nil, errors.Join(err, theirs.Close())
	}
	return conn, theirs, nil
}

// Pid is the process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Ended is closed when the process is gone.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Log is the file with what the process printed.
func (p *Process) Log() string { return p.log }

// Call asks a process that has a role, and waits for its answer or the end of
// ctx.
func (p *Process) Call(ctx context.Context, method string, args, answer any) error {
	call := p.calls.Go(serviceName+"."+method, args, answer, make(chan *rpc.Call, 1))
	select {
	case <-call.Done:
		if call.Error != nil {
			return fmt.Errorf("%s: %s: %w", p.name, method, call.Error)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: %s: %w", p.name, method, context.Cause(ctx))
	}
}

// Kill ends the process with SIGKILL and returns when it is gone. One that is
// gone already is no error.
func (p *Process) Kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill %s: %w", p.name, err)
	}
	<-p.ended
	if p.calls != nil {
		_ = p.calls.Close() // the other end is gone
	}
	return nil
}

// Stop asks the process to end, and kills it when it does not: one with a role
// by hanging up, another program by the signal.
func (p *Process) Stop(signal syscall.Signal) error {
	if p.calls != nil {
		_ = p.calls.Close()
	} else if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	timer := time.NewTimer(stopMax)
	defer timer.Stop()
	select {
	case <-p.ended:
		return nil
	case <-timer.C:
		return errors.Join(fmt.Errorf("%s did not end within %v", p.name, stopMax), p.Kill())
	}
}
