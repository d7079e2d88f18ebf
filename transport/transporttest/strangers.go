package transporttest

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// Strangers open connections that no node would, to listeners that must not be
// disturbed by them. Its methods are safe for concurrent use.
type Strangers struct {
	t testing.TB

	mu     sync.Mutex
	silent []net.Conn // some may be nil
	next   int
}

// NewStrangers returns strangers of whom the last silent ones stay at a time.
// The caller has to Close them.
func NewStrangers(t testing.TB, silent int) *Strangers {
	return &Strangers{t: t, silent: make([]net.Conn, silent)}
}

// Dial opens a connection for 30 s. It is nil, and the test has failed, if
// nobody listens at the address.
func (s *Strangers) Dial(address string) net.Conn {
	conn, err := net.DialTimeout("tcp", address, waitMax)
	if err != nil {
		s.t.Errorf("the listener is gone: %v", err)
		return nil
	}
	if err := conn.SetDeadline(time.Now().Add(waitMax)); err != nil {
		s.t.Error(err)
	}
	return conn
}

// Say says everything and waits until the listener has had enough. It fails
// the test if that takes until the connection's deadline.
func (s *Strangers) Say(conn net.Conn, words ...[]byte) {
	defer conn.Close()
	for _, part := range words {
		if _, err := conn.Write(part); err != nil {
			return
		}
	}
	var timeout net.Error
	if _, err := io.Copy(io.Discard, conn); errors.As(err, &timeout) && timeout.Timeout() {
		s.t.Error("the listener keeps a hostile connection")
	}
}

// Stay leaves a connection open and silent, until enough others have come.
func (s *Strangers) Stay(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.silent[s.next]; old != nil {
		old.Close()
	}
	s.silent[s.next] = conn
	s.next = (s.next + 1) % len(s.silent)
}

// Close ends the connections of those who stayed.
func (s *Strangers) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.silent {
		if conn != nil {
			conn.Close()
		}
	}
}
