package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/palisade-go/palisade/coordinator"
)

// patience bounds each wait of the story. It is far above what is needed, also
// on a busy machine: what does not happen in that time does not happen.
const patience = time.Minute

// process is a node that runs in a process of its own. It is given orders, a
// line each, and answers with lines. One goroutine uses it.
type process struct {
	id     coordinator.NodeID
	cmd    *exec.Cmd
	orders io.WriteCloser
	lines  chan string  // what it says; closed by the goroutine of startProcess
	heard  []string     // what of it was taken from lines
	errors bytes.Buffer // its standard error, to be read when it has ended
}

// startProcess starts a node's process.
func startProcess(program string, s settings) (*process, error) {
	p := &process{id: s.node, cmd: exec.Command(program, s.args()...), lines: make(chan string)}
	p.cmd.Stderr = &p.errors
	// A process group of its own keeps the terminal's Ctrl-C from the nodes:
	// it is for the story, which stops them. And if the story is killed while
	// a node is stopped with SIGSTOP, the system finds a group with a stopped
	// process that nobody can continue any more, and sends it SIGHUP and
	// SIGCONT.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	orders, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.orders = orders
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.lines)
		for scanner := bufio.NewScanner(output); scanner.Scan(); {
			p.lines <- scanner.Text()
		}
	}()
	return p, nil
}

// order gives an order. A process that is paused gets it when it goes on.
func (p *process) order(text string) error {
	if _, err := fmt.Fprintln(p.orders, text); err != nil {
		return fmt.Errorf("order node %d to %s: %w", p.id, text, err)
	}
	return nil
}

// unasked are the words that a node may say at any time.
var unasked = []string{"lost", "unavailable", "waiting"}

// expect waits until the node says a word, and returns the rest of that line.
// Any other answer is an error.
func (p *process) expect(ctx context.Context, word string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		line, err := p.next(ctx)
		if err != nil {
			return "", fmt.Errorf("waiting for node %d to say %q: %w", p.id, word, err)
		}
		said, rest, _ := strings.Cut(line, " ")
		if said == word {
			return rest, nil
		}
		if !slices.Contains(unasked, said) {
			return "", fmt.Errorf("node %d should say %q, but it says: %s", p.id, word, line)
		}
	}
}

// next returns the next line, or io.EOF when the process has closed its output.
func (p *process) next(ctx context.Context) (string, error) {
	select {
	case line, more := <-p.lines:
		if !more {
			return "", io.EOF
		}
		p.heard = append(p.heard, line)
		return line, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// obey gives an order and waits for the answer, a word. It returns the rest of
// the line.
func (p *process) obey(ctx context.Context, order, word string) (string, error) {
	if err := p.order(order); err != nil {
		return "", err
	}
	return p.expect(ctx, word)
}

// signal sends a signal.
func (p *process) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("send %v to node %d: %w", s, p.id, err)
	}
	return nil
}

// stop stops the process with SIGSTOP, and returns when it stands still. Before
// that, the system would not find a stopped process in its group if the story
// were killed.
func (p *process) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
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
			return fmt.Errorf("look whether node %d is stopped: %w", p.id, err)
		case pid == p.cmd.Process.Pid && status.Stopped():
			return nil
		case pid == p.cmd.Process.Pid:
			return fmt.Errorf("node %d should be stopped, but it has ended", p.id)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for node %d to be stopped: %w", p.id, ctx.Err())
		}
	}
}

// end waits until a process that was told to stop has ended, and checks that
// its status is 0.
func (p *process) end(ctx context.Context) error {
	if _, err := p.expect(ctx, "stopped"); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if line, err := p.next(ctx); err == nil {
		return fmt.Errorf("node %d should end, but it says: %s", p.id, line)
	} else if !errors.Is(err, io.EOF) {
		return fmt.Errorf("waiting for node %d to end: %w", p.id, err)
	}
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("node %d ended badly: %w", p.id, err)
	}
	return nil
}

// kill ends a process with SIGKILL, paused or not, and checks that this is
// what it ended of.
func (p *process) kill() error {
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	for line := range p.lines {
		p.heard = append(p.heard, line)
	}
	_ = p.cmd.Wait() // the state tells it better
	state := p.cmd.ProcessState
	if status, ok := state.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		return fmt.Errorf("node %d should have been killed, but it ended by itself: %v", p.id, state)
	}
	return nil
}

// loss returns what the process has said of a lease or a place in line that it
// lost, "" if nothing. It is complete when the process has ended.
func (p *process) loss() string {
	for _, line := range p.heard {
		if strings.HasPrefix(line, "lost") || strings.HasPrefix(line, "unavailable") {
			return line
		}
	}
	return ""
}

// testimony is what the process has said, for the case that something is
// wrong. The process has ended.
func (p *process) testimony() string {
	return fmt.Sprintf("node %d said:\n%s\n%s", p.id, strings.Join(p.heard, "\n"), &p.errors)
}
