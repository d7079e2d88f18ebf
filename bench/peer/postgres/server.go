package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/palisade-go/palisade/bench/crew"
	"github.com/palisade-go/palisade/bench/member"
	"github.com/palisade-go/palisade/bench/peer"
	"github.com/palisade-go/palisade/bench/peer/holder"
)

// user is the account that owns the database, and the one of the system that
// runs the server when the benchmark is run by root, whom it refuses.
const user = "postgres"

// connectionsMax is above the workers of any workload.
const connectionsMax = 1100

// askAgain is when a server that does not serve yet is asked again.
const askAgain = 50 * time.Millisecond

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

// server is one server.
type server struct {
	dir     string
	ports   *member.Ports
	process *member.Process
	sites   [peer.Members]*crew.Site
}

// Open implements peer.Peer.
func (Peer) Open(ctx context.Context, s peer.Setup) (peer.Cluster, error) {
	dir, err := filepath.Abs(s.Dir)
	if err != nil {
		return nil, err
	}
	if err := initialize(ctx, dir); err != nil {
		return nil, err
	}
	ports, err := member.TakePorts(1)
	if err != nil {
		return nil, err
	}
	p := &server{dir: dir, ports: ports}
	cmd, err := command("postgres", "-D", filepath.Join(dir, "data"), "-k", "", "-p", strconv.Itoa(ports.Port(0)),
		"-c", "listen_addresses=127.0.0.1", "-c", "max_connections="+strconv.Itoa(connectionsMax))
	if err == nil {
		p.process, err = member.Start(dir, "postgres", cmd)
	}
	if err != nil {
		ports.Free()
		return nil, err
	}
	for i := range p.sites {
		p.sites[i] = crew.NewSite(func(ctx context.Context) (crew.Locker, error) { return Dial(ctx, ports.Address(0), peer.TTL) })
	}
	if err := p.waitReady(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *server) waitReady(ctx context.Context) error {
	ticker := time.NewTicker(askAgain)
	defer ticker.Stop()
	for {
		first, err := Dial(ctx, p.ports.Address(0), peer.TTL)
		if err == nil {
			return first.Close()
		}
		select {
		case <-ticker.C:
		case <-p.process.Ended():
			return fmt.Errorf("the server has ended: %w", p.process.LastWords())
		case <-ctx.Done():
			return fmt.Errorf("the server does not serve: %w", errors.Join(context.Cause(ctx), err))
		}
	}
}

// Sites implements peer.Cluster.
func (p *server) Sites() []peer.Site { return peer.SitesOf(p.sites[:]) }

// Processes implements peer.Cluster: the server's children are found by it.
func (p *server) Processes() []int { return []int{p.process.Pid()} }

// Close implements peer.Cluster.
func (p *server) Close() error {
	defer p.ports.Free()
	// SIGINT does not wait for connections.
	return errors.Join(crew.CloseAll(p.sites[:]), p.process.Stop(syscall.SIGINT))
}

// Hold implements peer.Holding.
func (p *server) Hold(ctx context.Context, key string, ttl time.Duration) (peer.Holder, error) {
	lock := holder.Lock{Peer: Peer{}.Name(), Address: p.ports.Address(0), Key: key, TTL: ttl}
	return holder.Start(ctx, p.dir, lock, p.sites[0])
}
