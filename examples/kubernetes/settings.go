package main

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/transport"
)

// settings are what the command line says.
type settings struct {
	dir, cluster, key, http, tls string
	node                         coordinator.NodeID
	peers                        map[coordinator.NodeID]string
	step, hold                   time.Duration
	epoch                        uint64
	groups                       int
	insecure                     bool
}

// parse reads the command line. The members come from -service, -replicas and
// the host name, as the pods of a StatefulSet have it; or from -node and
// -peers.
func parse(args []string, host string) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("kubernetes", flag.ContinueOnError)
	flags.StringVar(&s.dir, "dir", "", "data `directory` of this node, on a disk of its own")
	flags.StringVar(&s.cluster, "cluster", "billing", "`name` of the cluster, as the certificates have it")
	flags.Uint64Var(&s.epoch, "epoch", 0, "upper part of all tokens: above all `number`s ever used when the cluster is founded anew")
	flags.IntVar(&s.groups, "groups", coordinator.DefaultGroups, "`number` of Raft groups; never changed after the first start")
	flags.StringVar(&s.key, "key", "report", "`key` to be held while working")
	flags.StringVar(&s.http, "http", ":8080", "`address` of /livez and /readyz")
	flags.StringVar(&s.tls, "tls", "", "`directory` with ca.pem, node-1.pem, node-1.key, node-2.pem, ...")
	flags.BoolVar(&s.insecure, "insecure", false, "instead of -tls: whoever reaches the port can be any node")
	flags.DurationVar(&s.step, "step", time.Second, "how long one step of the work takes")
	flags.DurationVar(&s.hold, "hold", 20*time.Second, "how long a step may take when the process is told to stop")
	service := flags.String("service", "", "`name` of the headless Service of the StatefulSet")
	replicas := flags.Int("replicas", 3, "`number` of pods of the StatefulSet")
	port := flags.Uint("port", 7400, "`port` of the links between nodes")
	node := flags.Uint64("node", 0, "`id` of this node, with -peers")
	peers := flags.String("peers", "", "all nodes, as `id=host:port,...`, instead of -service")
	if err := flags.Parse(args); err != nil {
		return settings{}, err
	}
	if flags.NArg() > 0 {
		return settings{}, fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	if s.hold < s.step {
		return settings{}, fmt.Errorf("-hold is %v: a step takes %v", s.hold, s.step)
	}
	if (s.tls == "") != s.insecure {
		return settings{}, errors.New("either -tls or -insecure is needed")
	}
	var err error
	switch {
	case (*service == "") == (*peers == ""):
		err = errors.New("either -service or -peers is needed")
	case *service == "":
		s.node = coordinator.NodeID(*node)
		s.peers, err = parsePeers(*peers)
	case *port > 65535:
		err = fmt.Errorf("-port is %d: at most 65535", *port)
	default:
		s.node, s.peers, err = coordinator.PeersFromStatefulSet(
			host, coordinator.HeadlessService(*service), *replicas, uint16(*port))
	}
	return s, err
}

func parsePeers(text string) (map[coordinator.NodeID]string, error) {
	peers := map[coordinator.NodeID]string{}
	for _, one := range strings.Split(text, ",") {
		id, address, _ := strings.Cut(one, "=")
		n, err := strconv.ParseUint(id, 10, 64)
		if err != nil || address == "" {
			return nil, fmt.Errorf("-peers: %q is not id=host:port", one)
		}
		peers[coordinator.NodeID(n)] = address
	}
	return peers, nil
}

// config is what the node is told. What it does not say is as the library
// says: leases of 15 s, elections after 1 s.
func (s settings) config() coordinator.Config {
	return coordinator.Config{
		Dir: s.dir, Cluster: s.cluster, NodeID: s.node, Peers: s.peers,
		Epoch: s.epoch, Groups: s.groups,
		TLS:    s.links(),
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}
}

// links says how the links between nodes are protected. Each node has a
// certificate of its own, with the URI SAN that transport.NodeURI returns. The
// files are read again while the node runs, so they can be replaced.
func (s settings) links() transport.TLS {
	if s.insecure {
		return transport.Insecure
	}
	return transport.TLS{
		CAFile:   filepath.Join(s.tls, "ca.pem"),
		CertFile: filepath.Join(s.tls, fmt.Sprintf("node-%d.pem", s.node)),
		KeyFile:  filepath.Join(s.tls, fmt.Sprintf("node-%d.key", s.node)),
	}
}
