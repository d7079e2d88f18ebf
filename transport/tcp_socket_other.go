//go:build !linux

package transport

import (
	"net"
	"time"
)

// setUserTimeout does nothing: the option is Linux's own. Elsewhere a peer
// that is gone while data is on its way is noticed when the buffers are full,
// by the deadline for writing, or when the system gives up.
func setUserTimeout(*net.TCPConn, time.Duration) error { return nil }
