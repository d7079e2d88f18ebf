package main

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// link carries what one node sends to another: a small TCP proxy on the way,
// which can be cut and mended. A node sends over connections that it opened
// itself, so one link is one direction.
type link struct {
	listener net.Listener
	carriers sync.WaitGroup // accepting, and one for each connection

	mu sync.Mutex
	// target is where the receiver listens. It changes when that node is
	// started again.
	target string
	isCut  bool
	ends   map[net.Conn]struct{} // of all connections that are open
}

// openLink listens on a free port of the loopback interface. It carries
// nothing until it is told a target.
func openLink() (*link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &link{listener: listener, ends: map[net.Conn]struct{}{}}
	l.carriers.Add(1)
	go func() {
		defer l.carriers.Done()
		l.accept()
	}()
	return l, nil
}

// address is what the sender takes for the receiver's address.
func (l *link) address() string { return l.listener.Addr().String() }

// lead makes new connections go to target.
func (l *link) lead(target string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.target = target
}

// cut breaks all connections, and every new one at once, until mend. It
// returns how many it has broken.
func (l *link) cut() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut = true
	for end := range l.ends {
		end.Close()
	}
	return len(l.ends) / 2
}

// mend lets new connections through again.
func (l *link) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut = false
}

// close breaks everything for good and returns when nothing is carried any
// more.
func (l *link) close() {
	l.listener.Close()
	l.cut()
	l.carriers.Wait()
}

func (l *link) accept() {
	for {
		near, err := l.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		l.carriers.Add(1)
		go func() {
			defer l.carriers.Done()
			l.carry(near)
		}()
	}
}

// dialMax bounds how long a link tries to reach its target.
const dialMax = 2 * time.Second

// carry copies both ways until either end is closed. Bytes flow back too,
// where the engine acknowledges.
func (l *link) carry(near net.Conn) {
	defer near.Close()
	l.mu.Lock()
	target := l.target
	l.mu.Unlock()
	far, err := net.DialTimeout("tcp", target, dialMax)
	if err != nil {
		return
	}
	defer far.Close()
	if !l.admit(near, far) {
		return
	}
	defer l.dismiss(near, far)
	back := make(chan struct{})
	go func() {
		defer close(back)
		pump(near, far)
	}()
	pump(far, near)
	<-back
}

// pump copies until either end is closed, and then closes both, which ends the
// pump of the other direction.
func pump(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	// An error is what a broken connection looks like, and breaking them is
	// what a link is for.
	_, _ = io.Copy(to, from)
}

// admit counts a connection in, unless the link was cut meanwhile. Both happen
// under one lock, so no connection can slip past a cut.
func (l *link) admit(ends ...net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isCut {
		return false
	}
	for _, end := range ends {
		l.ends[end] = struct{}{}
	}
	return true
}

func (l *link) dismiss(ends ...net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, end := range ends {
		delete(l.ends, end)
	}
}
