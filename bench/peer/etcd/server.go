package etcd

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"go.etcd.io/etcd/server/v3/embed"

	"github.com/palisade-go/palisade/bench/member"
)

// Role is what a member's process is started as.
const Role = "etcd"

// startMax is how long the members may take to find one another.
const startMax = time.Minute

// Server is the service of a member's process.
type Server struct{ etcd *embed.Etcd }

// NewServer makes a member that does not run yet.
func NewServer() member.Service { return &Server{} }

// Start is what a member is started with.
type Start struct {
	Name, Dir          string
	ClientURL, PeerURL string
	Cluster            []string // name=url of all members
	Existing           bool     // the directory has been used
}

// Open starts the member and waits until it has joined.
func (s *Server) Open(start Start, _ *member.Nothing) error {
	cfg := embed.NewConfig()
	cfg.Name, cfg.Dir = start.Name, start.Dir
	client, err := url.Parse(start.ClientURL)
	if err != nil {
		return err
	}
	between, err := url.Parse(start.PeerURL)
	if err != nil {
		return err
	}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{*client}, []url.URL{*client}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{*between}, []url.URL{*between}
	cfg.InitialCluster = strings.Join(start.Cluster, ",")
	if start.Existing {
		cfg.ClusterState = embed.ClusterStateFlagExisting
	}
	cfg.LogLevel = "error"
	etcd, err := embed.StartEtcd(cfg)
	if err != nil {
		return err
	}
	s.etcd = etcd
	timer := time.NewTimer(startMax)
	defer timer.Stop()
	select {
	case <-etcd.Server.ReadyNotify():
		return nil
	case err := <-etcd.Err():
		return err
	case <-timer.C:
		return fmt.Errorf("not ready within %v", startMax)
	}
}

// Close stops the member when the benchmark hangs up.
func (s *Server) Close() error {
	if s.etcd != nil {
		s.etcd.Close()
	}
	return nil
}
