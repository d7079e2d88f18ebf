package main

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/palisade-go/palisade/coordinator"
)

const (
	// clusterName is in the certificates, and nodes of another cluster are
	// refused.
	clusterName = "example"
	// electionTimeout is shorter than the default, so that the story is. A
	// leader that is gone is replaced after one to two of it.
	electionTimeout = 400 * time.Millisecond
	// groups is over how many Raft groups the keys are spread. There is one
	// key here.
	groups = 1
)

// members are the nodes of the cluster.
var members = []coordinator.NodeID{1, 2, 3}

// settings are what the command line says.
type settings struct {
	node      coordinator.NodeID // 0: tell the story
	dir       string             // for all nodes
	addresses []string           // of the nodes 1, 2 and 3
	ttl       time.Duration
}

// parse reads the command line.
func parse(args []string) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("cluster", flag.ContinueOnError)
	node := flags.Uint64("node", 0, "run node `1`, 2 or 3 alone and take its orders from the standard input")
	flags.StringVar(&s.dir, "dir", "palisade-cluster", "with -node: `directory` of all nodes")
	addresses := flags.String("addresses", "127.0.0.1:7401,127.0.0.1:7402,127.0.0.1:7403",
		"with -node: `list` of the addresses of the nodes 1, 2 and 3")
	flags.DurationVar(&s.ttl, "ttl", 5*time.Second, "with -node: how long the others wait for this node before its lease expires")
	if err := flags.Parse(args); err != nil {
		return settings{}, err
	}
	s.node, s.addresses = coordinator.NodeID(*node), strings.Split(*addresses, ",")
	switch {
	case flags.NArg() > 0:
		return settings{}, fmt.Errorf("unknown argument %q", flags.Arg(0))
	case s.node == 0 && flags.NFlag() > 0:
		return settings{}, errors.New("-node is missing: it is 1, 2 or 3")
	case s.node > coordinator.NodeID(len(members)):
		return settings{}, fmt.Errorf("-node is %d: it is 1, 2 or 3", s.node)
	case len(s.addresses) != len(members):
		return settings{}, fmt.Errorf("-addresses has %d addresses: %d nodes need one each", len(s.addresses), len(members))
	}
	return s, nil
}

// args are the arguments that parse reads as s.
func (s settings) args() []string {
	return []string{
		"-node", fmt.Sprint(s.node), "-dir", s.dir, "-addresses", strings.Join(s.addresses, ","), "-ttl", s.ttl.String(),
	}
}

// config is what the node is told. Nodes on several machines would not set
// Listen, and would have each a directory and certificates of its own.
func (s settings) config() coordinator.Config {
	peers := map[coordinator.NodeID]string{}
	for i, id := range members {
		peers[id] = s.addresses[i]
	}
	return coordinator.Config{
		Dir:     filepath.Join(s.dir, fmt.Sprintf("node-%d", s.node)),
		Cluster: clusterName, NodeID: s.node, Peers: peers, Listen: peers[s.node],
		TLS:             certificatesIn(s.dir, s.node),
		ElectionTimeout: electionTimeout, Groups: groups, TTL: s.ttl,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
}

// document is what the lock protects.
func (s settings) document() document { return documentIn(s.dir) }
