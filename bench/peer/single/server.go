package single

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"github.com/palisade-go/palisade/bench/crew"
	"github.com/palisade-go/palisade/bench/member"
	"github.com/palisade-go/palisade/bench/peer"
	"github.com/palisade-go/palisade/bench/peer/holder"
)

// askAgain is when a server that does not serve yet is asked again.
const askAgain = 50 * time.Millisecond

// Program is how a server is started, used and ended.
type Program struct {
	Name    string // of the peer
	Command func(port int) (*exec.Cmd, error)
	Dial    holder.Dialer
	Stop    syscall.Signal // ends it in good order, whoever is connected
}

// server is one server.
type server struct {
	Program
	dir     string
	ports   *member.Ports
	process *member.Process
	sites   [peer.Members]*crew.Site
}

// Open starts the server with its files in dir, and waits until it serves.
func (p Program) Open(ctx context.Context, dir string) (peer.Cluster, error) {
	ports, err := member.TakePorts(1)
	if err != nil {
		return nil, err
	}
	s := &server{Program: p, dir: dir, ports: ports}
	cmd, err := p.Command(ports.Port(0))
	if err == nil {
		s.process, err = member.Start(dir, p.Name, cmd)
	}
	if err != nil {
		ports.Free()
		return nil, err
	}
	for i := range s.sites {
		s.sites[i] = crew.NewSite(s.dial)
	}
	if err := s.waitReady(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *server) dial(ctx context.Context) (crew.Locker, error) {
	return s.Dial(ctx, s.ports.Address(0), peer.TTL)
}

func (s *server) waitReady(ctx context.Context) error {
	ticker := time.NewTicker(askAgain)
	defer ticker.Stop()
	for {
		first, err := s.dial(ctx)
		if err == nil {
			return first.Close()
		}
		select {
		case <-ticker.C:
		case <-s.process.Ended():
			return fmt.Errorf("the server has ended: %w", s.process.LastWords())
		case <-ctx.Done():
			return fmt.Errorf("the server does not serve: %w", errors.Join(context.Cause(ctx), err))
		}
	}
}

// Sites implements peer.Cluster.
func (s *server) Sites() []peer.Site { return peer.SitesOf(s.sites[:]) }

// Processes implements peer.Cluster: the server's children are found by it.
func (s *server) Processes() []int { return []int{s.process.Pid()} }

// Close implements peer.Cluster.
func (s *server) Close() error {
	defer s.ports.Free()
	return errors.Join(crew.CloseAll(s.sites[:]), s.process.Stop(s.Stop))
}

// Hold implements peer.Holding.
func (s *server) Hold(ctx context.Context, key string, ttl time.Duration) (peer.Holder, error) {
	lock := holder.Lock{Peer: s.Name, Address: s.ports.Address(0), Key: key, TTL: ttl}
	return holder.Start(ctx, s.dir, lock, s.sites[0])
}
