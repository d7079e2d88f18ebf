package coordinator_test

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// forwarder passes connections to one address on to another, as an operator
// lets a place that was moved from, or is to be moved to, do for a while.
type forwarder struct {
	to       string
	listener net.Listener
	work     sync.WaitGroup

	mu     sync.Mutex
	closed bool
	open   map[net.Conn]struct{}
	passed int // connections
}

func forward(t *testing.T, from, to string) *forwarder {
	listener, err := net.Listen("tcp", from)
	require.NoError(t, err)
	f := &forwarder{to: to, listener: listener, open: make(map[net.Conn]struct{})}
	f.work.Add(1)
	go f.accept()
	t.Cleanup(f.close)
	return f
}

func (f *forwarder) accept() {
	defer f.work.Done()
	for {
		in, err := f.listener.Accept()
		if err != nil {
			return
		}
		f.work.Add(1)
		go func() {
			defer f.work.Done()
			f.pass(in)
		}()
	}
}

// pass copies both ways until either end hangs up.
func (f *forwarder) pass(in net.Conn) {
	defer in.Close()
	out, err := net.Dial("tcp", f.to)
	if err != nil {
		return
	}
	defer out.Close()
	if !f.keep(in, out) {
		return
	}
	defer f.drop(in, out)
	f.work.Add(1)
	go func() {
		defer f.work.Done()
		defer in.Close()
		_, _ = io.Copy(in, out)
	}()
	_, _ = io.Copy(out, in)
}

func (f *forwarder) keep(conns ...net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range conns {
		f.open[c] = struct{}{}
	}
	f.passed++
	return !f.closed
}

func (f *forwarder) drop(conns ...net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range conns {
		delete(f.open, c)
	}
}

// connections returns how many were passed on.
func (f *forwarder) connections() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.passed
}

// close ends all connections, and gives the address back.
func (f *forwarder) close() {
	f.listener.Close()
	f.mu.Lock()
	f.closed = true
	for c := range f.open {
		c.Close()
	}
	f.mu.Unlock()
	f.work.Wait()
}
