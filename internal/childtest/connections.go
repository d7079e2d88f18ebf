// Package childtest connects a test with the processes that it starts.
package childtest

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// SocketPair returns the two ends of a connection: one for this process, and one
// for a child to inherit, to be closed here when the child has been started.
func SocketPair() (net.Conn, *os.File, error) {
	syscall.ForkLock.RLock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, err
	}
	theirs := os.NewFile(uintptr(fds[1]), "socket pair")
	conn, err := Inherited(uintptr(fds[0]))
	if err != nil {
		return nil, nil, errors.Join(err, theirs.Close())
	}
	return conn, theirs, nil
}

// Inherited returns the connection that this process has as a file descriptor,
// which it takes over.
func Inherited(fd uintptr) (net.Conn, error) {
	f := os.NewFile(fd, "inherited")
	conn, err := net.FileConn(f)
	return conn, errors.Join(err, f.Close())
}
