package postgres

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/palisade-go/palisade/bench/peer"
	"github.com/palisade-go/palisade/bench/peer/single"
)

// user is the account that owns the database, and the one of the system that
// runs the server when the benchmark is run by root, whom it refuses.
const user = "postgres"

// connectionsMax is above the workers of any workload.
const connectionsMax = 1100

// Peer opens a PostgreSQL server.
type Peer struct{}

// Name implements peer.Peer.
func (Peer) Name() string { return "postgres" }

// programs returns the directory of the newest version that is installed, ""
// if there is none.
func programs() string {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return ""
	}
	newest, version := "", 0
	for _, dir := range found {
		if n, err := strconv.Atoi(filepath.Base(filepath.Dir(dir))); err == nil && n > version {
			newest, version = dir, n
		}
	}
	return newest
}

// Version implements peer.Peer.
func (Peer) Version() string {
	said, err := exec.Command(filepath.Join(programs(), "postgres"), "--version").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimPrefix(strings.TrimSpace(string(said)), "postgres (PostgreSQL) ")
}

// Missing implements peer.Peer.
func (Peer) Missing() string {
	if programs() == "" {
		return "not installed (apt-get install --no-install-recommends postgresql)"
	}
	if os.Getuid() == 0 {
		if _, err := account(); err != nil {
			return fmt.Sprintf("it refuses to run as root: %v", err)
		}
	}
	return ""
}

// Open implements peer.Peer.
func (p Peer) Open(ctx context.Context, s peer.Setup) (peer.Cluster, error) {
	dir, err := filepath.Abs(s.Dir)
	if err != nil {
		return nil, err
	}
	if err := initialize(ctx, dir); err != nil {
		return nil, err
	}
	start := func(port int) (*exec.Cmd, error) {
		return command("postgres", "-D", filepath.Join(dir, "data"), "-k", "", "-p", strconv.Itoa(port),
			"-c", "listen_addresses=127.0.0.1", "-c", "max_connections="+strconv.Itoa(connectionsMax))
	}
	// SIGINT does not wait for connections.
	return single.Program{Name: p.Name(), Command: start, Dial: Dial, Stop: syscall.SIGINT}.Open(ctx, dir)
}
