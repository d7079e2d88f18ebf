package etcd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"go.etcd.io/etcd/api/v3/version"

	"github.com/palisade-go/palisade/bench/crew"
	"github.com/palisade-go/palisade/bench/member"
	"github.com/palisade-go/palisade/bench/peer"
	"github.com/palisade-go/palisade/bench/peer/holder"
)

// Peer opens clusters of etcd.
type Peer struct{}

// Name implements peer.Peer.
func (Peer) Name() string { return "etcd" }

// Version implements peer.Peer.
func (Peer) Version() string { return version.Version }

// Missing implements peer.Peer: etcd is compiled in.
func (Peer) Missing() string { return "" }

// cluster is three members, and a client at each.
type cluster struct {
	dir     string
	ports   *member.Ports // of the clients, then of the members
	servers [peer.Members]*member.Process
	clients [peer.Members]*clientv3.Client
	sites   [peer.Members]*crew.Site
}

// Open implements peer.Peer.
func (Peer) Open(ctx context.Context, s peer.Setup) (peer.Cluster, error) {
	ports, err := member.TakePorts(2 * peer.Members)
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: s.Dir, ports: ports}
	if err := c.open(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *cluster) open(ctx context.Context) error {
	opened := make(chan error, len(c.servers))
	for i := range c.servers {
		if err := c.start(i); err != nil {
			return err
		}
		// A member waits for the others.
		go func() { opened <- c.join(ctx, i, false) }()
	}
	var errs []error
	for range c.servers {
		errs = append(errs, <-opened)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for i := range c.clients {
		client, err := newClient(c.ports.Address(i))
		if err != nil {
			return err
		}
		c.clients[i] = client
		c.sites[i] = crew.NewSite(func(context.Context) (crew.Locker, error) { return openLocker(client, peer.TTL) })
	}
	return nil
}

func (c *cluster) start(i int) (err error) {
	c.servers[i], err = member.StartRole(c.dir, memberName(i), Role)
	return err
}

// join opens the member i, whose process runs.
func (c *cluster) join(ctx context.Context, i int, existing bool) error {
	start := Start{
		Name: memberName(i), Dir: filepath.Join(c.dir, memberName(i)), Existing: existing,
		ClientURL: "http://" + c.ports.Address(i), PeerURL: c.peerURL(i),
	}
	if err := os.MkdirAll(start.Dir, 0o700); err != nil {
		return err
	}
	for j := range c.servers {
		start.Cluster = append(start.Cluster, memberName(j)+"="+c.peerURL(j))
	}
	return c.servers[i].Call(ctx, "Open", start, &member.Nothing{})
}

func (c *cluster) peerURL(i int) string { return "http://" + c.ports.Address(peer.Members+i) }

func memberName(i int) string { return fmt.Sprintf("member%d", i+1) }

// Sites implements peer.Cluster.
func (c *cluster) Sites() []peer.Site { return peer.SitesOf(c.sites[:]) }

// Processes implements peer.Cluster.
func (c *cluster) Processes() []int { return member.Pids(c.servers[:]) }

// Close implements peer.Cluster.
func (c *cluster) Close() error {
	defer c.ports.Free()
	errs := []error{crew.CloseAll(c.sites[:])}
	for _, client := range c.clients {
		if client != nil {
			errs = append(errs, client.Close())
		}
	}
	return errors.Join(append(errs, member.StopAll(c.servers[:], syscall.SIGTERM))...)
}

// statusMax bounds a question for the leader.
const statusMax = 10 * time.Second

// Leader implements peer.Failing: one member leads for all keys.
func (c *cluster) Leader(ctx context.Context, _ string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, statusMax)
	defer cancel()
	for i, client := range c.clients {
		status, err := client.Status(ctx, c.ports.Address(i))
		if err != nil {
			return 0, err
		}
		if status.Leader == status.Header.MemberId {
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
	return c.join(ctx, i, true)
}

// Hold implements peer.Holding.
func (c *cluster) Hold(ctx context.Context, key string, ttl time.Duration) (peer.Holder, error) {
	lock := holder.Lock{Peer: Peer{}.Name(), Address: c.ports.Address(0), Key: key, TTL: ttl}
	return holder.Start(ctx, c.dir, lock, c.sites[1])
}
