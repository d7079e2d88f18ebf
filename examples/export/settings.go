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
	"github.com/palisade-go/palisade/transport"
)

const (
	// electionTimeout is shorter than the default, so that the story is. A
	// leader that is gone is replaced after one to two of it.
	electionTimeout = 500 * time.Millisecond
	// groups is over how many Raft groups the keys are spread. There are three
	// keys, one at a time.
	groups = 1
)

// members are the nodes of the cluster.
var members = []coordinator.NodeID{1, 2, 3}

// settings are what the command line says. Without arguments the story is told;
// with them the story starts its nodes.
type settings struct {
	node      coordinator.NodeID // 0: tell the story
	dir       string             // for all nodes and the database
	addresses []string           // of the nodes 1, 2 and 3
}

// parse reads the command line.
func parse(args []string) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("export", flag.ContinueOnError)
	node := flags.Uint64("node", 0, "for the story's own use: run this `node`")
	flags.StringVar(&s.dir, "dir", "", "with -node: `directory` of all nodes")
	addresses := flags.String("addresses", "", "with -node: `list` of the addresses of the nodes 1, 2 and 3")
	if err := flags.Parse(args); err != nil {
		return settings{}, err
	}
	s.node, s.addresses = coordinator.NodeID(*node), strings.Split(*addresses, ",")
	switch {
	case flags.NArg() > 0:
		return settings{}, fmt.Errorf("unknown argument %q", flags.Arg(0))
	case flags.NFlag() == 0:
		return settings{}, nil
	case s.node < 1 || s.node > coordinator.NodeID(len(members)):
		return settings{}, fmt.Errorf("-node is %d: it is 1, 2 or 3", s.node)
	case s.dir == "":
		return settings{}, errors.New("-dir is missing")
	case len(s.addresses) != len(members):
		return settings{}, fmt.Errorf("-addresses has %d addresses: %d nodes need one each", len(s.addresses), len(members))
	}
	return s, nil
}

// args are the arguments that parse reads as s.
func (s settings) args() []string {
	return []string{"-node", fmt.Sprint(s.node), "-dir", s.dir, "-addresses", strings.Join(s.addresses, ",")}
}

// config is what the node is told. The nodes talk over the loopback interface
// of one machine, to themselves, for some seconds. Anything else needs
// certificates: examples/cluster has them.
func (s settings) config() coordinator.Config {
	peers := map[coordinator.NodeID]string{}
	for i, id := range members {
		peers[id] = s.addresses[i]
	}
	return coordinator.Config{
		Dir:     filepath.Join(s.dir, fmt.Sprintf("node-%d", s.node)),
		Cluster: "export-example", NodeID: s.node, Peers: peers, Listen: peers[s.node],
		TLS:             transport.Insecure,
		ElectionTimeout: electionTimeout, Groups: groups,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
}

// databaseIn is the file that all processes share.
func databaseIn(dir string) string { return filepath.Join(dir, "ledger.db") }
