package transport

import (
	"net"
	"time"
)

// steadyWriter writes to a connection and fails when the peer takes nothing
// for as long as stall.
type steadyWriter struct {
	conn  net.Conn
	stall time.Duration
}

// steadyBytes is how much may go out under one deadline, so that a long frame
// on a slow way is not taken for a stall.
const steadyBytes = 64 << 10

// Write implements io.Writer.
func (w *steadyWriter) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		if err := w.conn.SetWriteDeadline(time.Now().Add(w.stall)); err != nil {
			return n, err
		}
		wrote, err := w.conn.Write(p[:min(len(p), steadyBytes)])
		n += wrote
		if err != nil {
			return n, err
		}
		p = p[wrote:]
	}
	return n, nil
}
