package transport

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// setUserTimeout bounds how long data may stay unacknowledged. Without it the
// system goes on for about a quarter of an hour, and sends no probes meanwhile.
func setUserTimeout(conn *net.TCPConn, limit time.Duration) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(max(limit.Milliseconds(), 1)))
	})
	if err != nil {
		return err
	}
	return failed
}
