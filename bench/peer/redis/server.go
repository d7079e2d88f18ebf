package redis

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"github.com/palisade-go/palisade/bench/peer"
	"github.com/palisade-go/palisade/bench/peer/single"
)

const program = "redis-server"

// Peer opens a Redis server.
type Peer struct{}

// Name implements peer.Peer.
func (Peer) Name() string { return "redis" }

// Version implements peer.Peer.
func (Peer) Version() string {
	said, err := exec.Command(program, "--version").Output()
	if err != nil {
		return "unknown"
	}
	for _, word := range strings.Fields(string(said)) {
		if version, found := strings.CutPrefix(word, "v="); found {
			return version
		}
	}
	return "unknown"
}

// Missing implements peer.Peer.
func (Peer) Missing() string {
	if _, err := exec.LookPath(program); err != nil {
		return "not installed (apt-get install --no-install-recommends redis-server)"
	}
	return ""
}

// Open implements peer.Peer.
func (p Peer) Open(ctx context.Context, s peer.Setup) (peer.Cluster, error) {
	start := func(port int) (*exec.Cmd, error) {
		return exec.Command(program, "--port", strconv.Itoa(port),
			"--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--appendfsync", "always"), nil
	}
	return single.Program{Name: p.Name(), Command: start, Dial: Dial, Stop: syscall.SIGTERM}.Open(ctx, s.Dir)
}
