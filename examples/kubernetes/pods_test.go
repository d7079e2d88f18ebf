package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// patience bounds every wait. It is far above what is needed on a busy machine.
const patience = 3 * time.Minute

// podVariable makes the test binary the program itself.
const podVariable = "PALISADE_TEST_POD"

func TestMain(m *testing.M) {
	if os.Getenv(podVariable) != "" {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

// pod is one process of the program, without Kubernetes.
type pod struct {
	t      *testing.T
	number int
	cmd    *exec.Cmd
	http   string // address of its probes

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at each line
	said    []string
	errors  strings.Builder // standard error
	exited  chan struct{}
	err     error // of the process, once it has exited
}

// startPod starts a process. It is killed when the test ends.
func startPod(t *testing.T, number int, probes string, args ...string) *pod {
	p := &pod{
		t: t, number: number, http: probes, changed: make(chan struct{}), exited: make(chan struct{}),
		cmd: exec.Command(os.Args[0], append(args, "-http="+probes)...),
	}
	p.cmd.Env = append(os.Environ(), podVariable+"=1")
	p.cmd.Stderr = &p.errors
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.mu.Lock()
			p.said = append(p.said, lines.Text())
			close(p.changed)
			p.changed = make(chan struct{})
			p.mu.Unlock()
		}
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.exited
		if t.Failed() {
			t.Logf("pod %d said:\n%s\nand on standard error:\n%s", number, strings.Join(p.said, "\n"), &p.errors)
		}
	})
	return p
}

// next returns the first line from a number on that matches, and the number
// of the line after it. If ctx ends or the process does before that, it fails.
func (p *pod) next(ctx context.Context, from int, form *regexp.Regexp) ([]string, int, error) {
	for ended := false; ; {
		p.mu.Lock()
		lines, changed := p.said[from:], p.changed
		p.mu.Unlock()
		for i, line := range lines {
			if m := form.FindStringSubmatch(line); m != nil {
				return m, from + i + 1, nil
			}
		}
		if ended {
			return nil, 0, fmt.Errorf("pod %d ended without saying %s", p.number, form)
		}
		select {
		case <-changed:
		case <-p.exited:
			ended = true // look at its last lines
		case <-ctx.Done():
			return nil, 0, fmt.Errorf("pod %d did not say %s: %w", p.number, form, ctx.Err())
		}
	}
}

// probe asks for a path, and returns the status and the text.
func (p *pod) probe(ctx context.Context, path string) (int, string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.http+path, nil)
	if err != nil {
		return 0, "", err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), errors.Join(err, answer.Body.Close())
}

// awaitProbe asks again and again, as the kubelet does, until the answer has a
// status.
func (p *pod) awaitProbe(ctx context.Context, path string, status int) {
	p.t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		got, text, err := p.probe(ctx, path)
		if err == nil && got == status {
			return
		}
		select {
		case <-again.C:
		case <-p.exited:
			require.FailNow(p.t, "pod ended", "pod %d", p.number)
		case <-ctx.Done():
			require.FailNow(p.t, "no such answer", "pod %d, %s: %d %q %v", p.number, path, got, text, err)
		}
	}
}

func (p *pod) signal(s syscall.Signal) { require.NoError(p.t, p.cmd.Process.Signal(s)) }

// awaitExit waits until the process has ended, and returns how.
func (p *pod) awaitExit(ctx context.Context) error {
	select {
	case <-p.exited:
		return p.err
	case <-ctx.Done():
		return fmt.Errorf("pod %d goes on: %w", p.number, ctx.Err())
	}
}

// freeAddresses returns n loopback addresses that nobody listened on a moment
// ago. Their ports are not of those that the system takes for outgoing
// connections: one could be gone before a node listens, or while it is down.
func freeAddresses(t *testing.T, n int) []string {
	var addresses []string
	for len(addresses) < n {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000)))
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		require.NoError(t, err)
		defer l.Close() // not before all are known
		addresses = append(addresses, l.Addr().String())
	}
	return addresses
}

// deployment is three pods with TLS.
func deployment(t *testing.T, args ...string) []*pod {
	const pods = 3
	dir := t.TempDir()
	certificates := writeCertificates(t, dir, pods)
	addresses := freeAddresses(t, 2*pods)
	var peers []string
	for i := range pods {
		peers = append(peers, fmt.Sprintf("%d=%s", i+1, addresses[i]))
	}
	var all []*pod
	for i := range pods {
		all = append(all, startPod(t, i+1, addresses[pods+i], append(args,
			"-dir="+filepath.Join(dir, fmt.Sprintf("node-%d", i+1)), "-tls="+certificates,
			fmt.Sprintf("-node=%d", i+1), "-peers="+strings.Join(peers, ","))...))
	}
	return all
}
