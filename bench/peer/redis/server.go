package redis

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/palisade-go/palisade/bench/crew"
	"github.com/palisade-go/palisade/bench/member"
	"github.com/palisade-go/palisade/bench/peer"
	"github.com/palisade-go/palisade/bench/peer/holder"
)

const program = "redis-server"

// askAgain is when a server that does not serve yet is asked again.
const askAgain = 50 * time.Millisecond

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

// server is one server.
type server struct {
	dir     string
	ports   *member.Ports
	process *member.Process
	sites   [peer.Members]*crew.Site
}

// Open implements peer.Peer.
func (Peer) Open(ctx context.Context, s peer.Setup) (peer.Cluster, error) {
	ports, err := member.TakePorts(1)
	if err != nil {
		return nil, err
	}
	r := &server{dir: s.Dir, ports: ports}
	r.process, err = member.Start(s.Dir, "redis", exec.Command(program, "--port", strconv.Itoa(ports.Port(0)),
		"--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--appendfsync", "always"))
	if err != nil {
		ports.Free()
		return nil, err
	}
	for i := range r.sites {
		r.sites[i] = crew.NewSite(func(ctx context.Context) (crew.Locker, error) { return Dial(ctx, ports.Address(0), peer.TTL) })
	}
	if err := r.waitReady(ctx); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (r *server) waitReady(ctx context.Context) error {
	ticker := time.NewTicker(askAgain)
	defer ticker.Stop()
	for {
		first, err := Dial(ctx, r.ports.Address(0), peer.TTL)
		if err == nil {
			return first.Close()
		}
		select {
		case <-ticker.C:
		case <-r.process.Ended():
			return fmt.Errorf("the server has ended: %w", r.process.LastWords())
		case <-ctx.Done():
			return fmt.Errorf("the server does not serve: %w", errors.Join(context.Cause(ctx), err))
		}
	}
}

// Sites implements peer.Cluster.
func (r *server) Sites() []peer.Site { return peer.SitesOf(r.sites[:]) }

// Processes implements peer.Cluster.
func (r *server) Processes() []int { return []int{r.process.Pid()} }

// Close implements peer.Cluster.
func (r *server) Close() error {
	defer r.ports.Free()
	return errors.Join(crew.CloseAll(r.sites[:]), r.process.Stop(syscall.SIGTERM))
}

// Hold implements peer.Holding.
func (r *server) Hold(ctx context.Context, key string, ttl time.Duration) (peer.Holder, error) {
	lock := holder.Lock{Peer: Peer{}.Name(), Address: r.ports.Address(0), Key: key, TTL: ttl}
	return holder.Start(ctx, r.dir, lock, r.sites[0])
}
