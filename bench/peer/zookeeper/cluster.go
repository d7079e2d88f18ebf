package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/palisade-go/palisade/bench/crew"
	"github.com/palisade-go/palisade/bench/member"
	"github.com/palisade-go/palisade/bench/peer"
	"github.com/palisade-go/palisade/bench/peer/holder"
)

// Peer opens clusters of ZooKeeper.
type Peer struct{}

// Name implements peer.Peer.
func (Peer) Name() string { return "zookeeper" }

// Version implements peer.Peer: the package has a link with the version in its
// name.
func (Peer) Version() string {
	links, err := filepath.Glob(strings.TrimSuffix(jar, ".jar") + "-[0-9]*.jar")
	if err != nil || len(links) == 0 {
		return "unknown"
	}
	name := strings.TrimSuffix(filepath.Base(links[0]), ".jar")
	return strings.TrimPrefix(name, "zookeeper-")
}

// Missing implements peer.Peer.
func (Peer) Missing() string {
	if _, err := os.Stat(jar); err != nil {
		return "not installed (apt-get install --no-install-recommends zookeeper)"
	}
	if _, err := exec.LookPath("java"); err != nil {
		return "Java is not installed (apt-get install --no-install-recommends default-jre-headless)"
	}
	return ""
}

// cluster is three servers.
type cluster struct {
	dir     string
	ports   *member.Ports // of the clients, of the servers, of the elections
	servers [peer.Members]*member.Process
	sites   [peer.Members]*crew.Site
}

// Open implements peer.Peer.
func (Peer) Open(ctx context.Context, s peer.Setup) (peer.Cluster, error) {
	ports, err := member.TakePorts(3 * peer.Members)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(s.Dir)
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: dir, ports: ports}
	if err := c.open(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *cluster) open(ctx context.Context) error {
	for i := range c.servers {
		if err := c.start(i); err != nil {
			return err
		}
	}
	for i := range c.servers {
		if err := c.waitReady(ctx, i); err != nil {
			return err
		}
		address := c.ports.Address(i)
		c.sites[i] = crew.NewSite(func(ctx context.Context) (crew.Locker, error) { return Dial(ctx, address, peer.TTL) })
	}
	return nil
}

// Sites implements peer.Cluster.
func (c *cluster) Sites() []peer.Site { return peer.SitesOf(c.sites[:]) }

// Processes implements peer.Cluster.
func (c *cluster) Processes() []int { return member.Pids(c.servers[:]) }

// Close implements peer.Cluster.
func (c *cluster) Close() error {
	defer c.ports.Free()
	return errors.Join(crew.CloseAll(c.sites[:]), member.StopAll(c.servers[:], syscall.SIGTERM))
}

// Leader implements peer.Failing: one server leads for all keys.
func (c *cluster) Leader(ctx context.Context, _ string) (int, error) {
	for i := range c.servers {
		if c.mode(ctx, i) == "leader" {
			return i, nil
		}
	}
	return 0, errors.New("nobody leads")
}

// Kill implements peer.Failing.
func (c *cluster) Kill(i int) error { return c.servers[i].Kill() }

// Revive implements peer.Failing.
func (c *cluster) Revive(ctx context.Context, i int) error {
	if err := c.start(i); err != nil {
		return err
	}
	return c.waitReady(ctx, i)
}

// Hold implements peer.Holding.
func (c *cluster) Hold(ctx context.Context, key string, ttl time.Duration) (peer.Holder, error) {
	leader, err := c.Leader(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("find a follower: %w", err)
	}
	at := (leader + 1) % peer.Members
	lock := holder.Lock{Peer: Peer{}.Name(), Address: c.ports.Address(at), Key: key, TTL: ttl}
	return holder.Start(ctx, c.dir, lock, c.sites[(at+1)%peer.Members])
}
