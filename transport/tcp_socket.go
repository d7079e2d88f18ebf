package transport

import (
	"net"
	"time"
)

// probeInterval is how often a silent peer is probed; see setSocket.
const probeInterval = time.Second

// setSocket makes the system notice a peer that is gone without a word within
// about stall, whether the link is idle or has data on its way. Connections
// that are not TCP, as tests have them, are left alone.
func setSocket(conn net.Conn, stall time.Duration) error {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil
	}
	idle := max(stall/2, probeInterval)
	err := tcp.SetKeepAliveConfig(net.KeepAliveConfig{
		Enable: true, Idle: idle, Interval: probeInterval, Count: max(int((stall-idle)/probeInterval), 1),
	})
	if err != nil {
		return err
	}
	return setUserTimeout(tcp, stall)
}
