package coordinator

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"slices"
	"time"

	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/transport"
)

// NodeID names a member of the cluster, from 1. It is never given out twice.
type NodeID uint64

// Defaults of Config.
const (
	DefaultGroups          = 1
	DefaultTTL             = 15 * time.Second
	DefaultElectionTimeout = time.Second
	// SingleElectionTimeout is the default of a cluster of one node, which
	// has nobody to wait for.
	SingleElectionTimeout = 100 * time.Millisecond
)

// Config says what a node is. Dir is required, and for a cluster of several
// nodes Cluster, NodeID and Peers too. The zero value of any other field means
// its default; there is no other magic value.
type Config struct {
	// Dir is the node's data directory, on a local disk. It is made if it is
	// missing, and locked while the node is open. Never copy it, and never
	// start a node with another node's or an older copy.
	Dir string

	// Cluster names the cluster, in 1 to 64 ASCII letters, digits, '-', '_' and
	// single dots inside. It is part of the birth certificate: nodes with
	// another name are refused. Required with Peers.
	Cluster string
	// NodeID is this node; a key of Peers. Default without Peers: 1.
	NodeID NodeID
	// Peers are all members, this node included, with the host:port at which
	// each is reached: 1, 3, 5 or 7. The ids are part of the birth
	// certificate; hosts and ports may change between starts. Names are
	// looked up at each dial. Two nodes can't have one address, however it is
	// spelled: upper or lower case, a dot at the end of a name, the forms of an
	// IPv6 address, IPv4 in it. Names are not looked up for that. Default: this
	// node alone, without a network.
	Peers map[NodeID]string

	// ElectionTimeout is how long a group's followers wait for a silent
	// leader before they elect another, which takes 0.9 to 1.9 of it. Shorter
	// finds a dead leader sooner, and uses more processor time when idle; too
	// short takes a slow disk or a busy processor for a death. From 100 ms to
	// 1 minute, in steps of 50 ms, and the same on all nodes. Default: 1 s;
	// 100 ms for a single node.
	ElectionTimeout time.Duration
	// Epoch is the upper part of all fencing tokens, 0 to 1023, as the
	// cluster is born. It is part of the birth certificate. Raise it above
	// all ever used when a cluster is founded anew for resources that
	// remember tokens of the old one. Default: 0.
	Epoch uint64
	// Groups is over how many Raft groups the keys are spread, 1 to 256. It
	// is part of the birth certificate. What is asked of a group at one moment
	// shares a log entry, so few groups do more with few processors. More of
	// them use more processors, keep a stall of one from the keys of the
	// others, and take about 1 MiB of memory each. Default: 1.
	Groups int
	// Limits bound what a request and this node may ask for.
	Limits Limits
	// Listen is the address to listen on: a host name or an address, IPv4 or
	// IPv6 in brackets, and a port. Default: all interfaces, at the port that
	// Peers gives this node.
	Listen string
	// Logger takes what nobody can be told by a return value, and the
	// engine's errors; its warnings, of each election, are logged as debug.
	// Default: nothing is logged.
	Logger *slog.Logger
	// Observers are told what happens at this node; see Observer. Default: none.
	Observers []Observer
	// TLS says how nodes prove to one another who they are. Required with
	// several Peers; there is no default. With transport.Insecure whoever
	// reaches the port can read everything and be any node, which is logged.
	TLS transport.TLS
	// TTL is the TTL of leases without WithTTL, from 4 times ElectionTimeout
	// to 24 hours. Default: 15 s.
	TTL time.Duration
}

// Limits bound what is asked for. Zero fields mean the defaults.
type Limits struct {
	// Keys of one request. 1 to 128. Default: 64.
	Keys int
	// Queue is how many requests may wait for one key, as this node sees
	// it: with that many in line its own requests are refused. Default:
	// 10,000.
	Queue int
	// Requests is how many requests of this node may wait or hold at a time.
	// Default: 1,000,000.
	Requests int
}

// Defaults of Limits.
const (
	DefaultLimitKeys     = 64
	DefaultLimitQueue    = 10_000
	DefaultLimitRequests = 1_000_000
)

const (
	groupsMax       = 256
	electionMin     = 100 * time.Millisecond
	electionMax     = time.Minute
	electionStep    = 50 * time.Millisecond
	singleNode      = NodeID(1)
	singleAddress   = "single:1"
	singleClusterID = "single"
)

// withDefaults returns the configuration with every default filled in.
func (c Config) withDefaults() Config {
	if len(c.Peers) == 0 {
		if c.NodeID == 0 {
			c.NodeID = singleNode
		}
		if c.Cluster == "" {
			c.Cluster = singleClusterID
		}
		c.Peers = map[NodeID]string{c.NodeID: singleAddress}
	}
	c.Peers, c.Observers = maps.Clone(c.Peers), slices.Clone(c.Observers)
	if c.ElectionTimeout == 0 {
		c.ElectionTimeout = DefaultElectionTimeout
		if len(c.Peers) == 1 {
			c.ElectionTimeout = SingleElectionTimeout
		}
	}
	if c.Groups == 0 {
		c.Groups = DefaultGroups
	}
	if c.TTL == 0 {
		c.TTL = DefaultTTL
	}
	if c.Listen == "" && len(c.Peers) > 1 {
		c.Listen = c.ownPort()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if c.Limits.Keys == 0 {
		c.Limits.Keys = DefaultLimitKeys
	}
	if c.Limits.Queue == 0 {
		c.Limits.Queue = DefaultLimitQueue
	}
	if c.Limits.Requests == 0 {
		c.Limits.Requests = DefaultLimitRequests
	}
	return c
}

// ownPort returns the address of all interfaces at the port that Peers gives
// this node; "" if it gives none.
func (c Config) ownPort() string {
	_, port, err := net.SplitHostPort(c.Peers[c.NodeID])
	if err != nil {
		return ""
	}
	return ":" + port
}

// validate reports every problem of a configuration with its defaults.
func (c Config) validate() error {
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if c.Dir == "" {
		wrong("Dir is missing")
	}
	if c.Cluster == "" {
		wrong("Cluster is missing: it is required with Peers")
	}
	if _, err := transport.NodeURI(c.Cluster, 1); c.Cluster != "" && err != nil {
		wrong("Cluster: %w", err)
	}
	c.validatePeers(wrong)
	if c.ElectionTimeout < electionMin || c.ElectionTimeout > electionMax || c.ElectionTimeout%electionStep != 0 {
		wrong("ElectionTimeout is %v: must be %v to %v in steps of %v", c.ElectionTimeout, electionMin, electionMax, electionStep)
	}
	if c.Epoch > token.EpochMax {
		wrong("Epoch is %d: at most %d", c.Epoch, uint64(token.EpochMax))
	}
	if c.Groups < 1 || c.Groups > groupsMax {
		wrong("Groups is %d: must be 1 to %d", c.Groups, groupsMax)
	}
	if minimum := 4 * c.ElectionTimeout; c.TTL < minimum || c.TTL > ttlMax {
		wrong("TTL is %v: must be from 4 times ElectionTimeout, %v, to %v", c.TTL, minimum, ttlMax)
	}
	if c.Limits.Keys < 1 || c.Limits.Keys > statemachine.ClaimsMax {
		wrong("Limits.Keys is %d: must be 1 to %d", c.Limits.Keys, statemachine.ClaimsMax)
	}
	if c.Limits.Queue < 1 {
		wrong("Limits.Queue is %d: must be above zero", c.Limits.Queue)
	}
	if c.Limits.Requests < 1 {
		wrong("Limits.Requests is %d: must be above zero", c.Limits.Requests)
	}
	for i, o := range c.Observers {
		if o == nil {
			wrong("Observers[%d] is nil", i)
		}
	}
	c.validateTLS(wrong)
	if len(problems) > 0 {
		return &Error{"Open", "", NotApplied, fmt.Errorf("%w: %w", ErrInvalid, errors.Join(problems...))}
	}
	return nil
}

func (c Config) validatePeers(wrong func(string, ...any)) {
	switch len(c.Peers) {
	case 1, 3, 5, 7:
	default:
		wrong("Peers has %d members: must be 1, 3, 5 or 7", len(c.Peers))
	}
	if c.NodeID == 0 {
		wrong("NodeID is missing: it is required with Peers")
	} else if _, ok := c.Peers[c.NodeID]; !ok {
		wrong("NodeID %d is not in Peers", c.NodeID)
	}
	if _, ok := c.Peers[0]; ok {
		wrong("Peers has a node 0: ids begin with 1")
	}
	byAddress := map[address]NodeID{}
	for _, id := range slices.Sorted(maps.Keys(c.Peers)) {
		place, err := parsePeerAddress(c.Peers[id])
		if err != nil {
			wrong("Peers[%d]: %w", id, err)
			continue
		}
		if other, taken := byAddress[place]; taken {
			wrong("Peers[%d] and Peers[%d] have one address, %v", other, id, place)
		}
		byAddress[place] = id
	}
	if c.Listen == "" || c.Listen == c.ownPort() {
		return // what is wrong with the own entry of Peers was said there
	}
	if len(c.Peers) == 1 {
		wrong("Listen is %s, but a single node has no network", c.Listen)
	}
	if _, err := parseAddress(c.Listen); err != nil {
		wrong("Listen: %w", err)
	}
}

// validateTLS reads the files, so that what is wrong with them is said before
// anything is made.
func (c Config) validateTLS(wrong func(string, ...any)) {
	if len(c.Peers) < 2 && c.TLS == (transport.TLS{}) {
		return // a single node has no network
	}
	if err := c.TLS.Check(c.Cluster, uint64(c.NodeID)); err != nil {
		wrong("%w", err) // it names the field
	}
}

// members returns the ids of Peers, sorted.
func (c Config) members() []statemachine.NodeID {
	ids := make([]statemachine.NodeID, 0, len(c.Peers))
	for id := range c.Peers {
		ids = append(ids, statemachine.NodeID(id))
	}
	slices.Sort(ids)
	return ids
}
