package raftnode

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/diskspace"
	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/statemachine/pebblestore"
	"github.com/palisade-go/palisade/transport"
)

// Config is what a Node needs. All fields are required unless their comment
// says otherwise.
type Config struct {
	// Node is this node; it is one of Members.
	Node statemachine.NodeID
	// Incarnation is which start of the node this is. The Sinks are told what it
	// has, and nothing of what earlier ones left.
	Incarnation statemachine.Incarnation
	// Members are all nodes. Each has a replica of every group, whose
	// replica id is its node id.
	Members []statemachine.NodeID
	// Groups is how many groups there are, numbered from 1.
	Groups int
	// Dir is the engine's own directory. It is made if it does not exist.
	// The caller has locked it.
	Dir string
	// Deployment marks all messages and the directory; nodes with another
	// one are not heard.
	Deployment uint64
	// HostID is the UUID by which the engine knows a member, in the form of
	// RFC 9562. It never changes.
	HostID func(statemachine.NodeID) string
	// Resolve tells where a member is reached now, as host:port. It is
	// called for each message, so it must not block.
	Resolve func(statemachine.NodeID) (string, error)
	// Address is where the others reach this node, in the Network's form.
	Address string
	// Listen is where to listen, in the Network's form.
	Listen string
	// Network carries the messages. Its Receive tells the node that sent.
	Network transport.Network
	// Founded says that this directory has taken part before, so that each
	// group must have a log here. Default: one without a log is new, unless the
	// store has applied something.
	Founded bool
	// Store keeps the machines of all groups. It is not closed by Close.
	Store *pebblestore.Store
	// Genesis is how each group began.
	Genesis func(statemachine.GroupID) statemachine.Genesis
	// Election is the election timeout: a follower that hears nothing for
	// one to two of it stands for election. It is rounded down to a multiple
	// of 50 ms, and up to 50 ms.
	Election time.Duration
	// Clock tells when batches were applied.
	Clock clock.Clock
	// Logger takes this package's messages, and of the engine's its errors,
	// and its warnings as debug. Nil: none.
	Logger *slog.Logger
	// Sink returns the listener of a group. It is called once for each group,
	// by Open.
	Sink func(statemachine.GroupID) Sink
	// SnapshotEntries is after how many entries the log is cut off, give or
	// take a quarter, so that groups do it at different times. A quarter of
	// it is kept for followers that lag. Default: 20,000.
	SnapshotEntries uint64
	// Gauge reads how much disk space is free for Dir. Default: the operating
	// system's.
	Gauge diskspace.Gauge
	// LogFS holds the Raft log. Default: the operating system's.
	LogFS vfs.FS
	// FS holds what the engine keeps besides: snapshots and marks. Tests give
	// one with faults, which must be a *vfs.ErrorFS of the engine's author.
	// Default: the operating system's.
	FS FS
}

// membersMax is how many members a cluster has at most.
const membersMax = 7

// groupsMax bounds the groups: the engine takes about 1 MiB for each.
const groupsMax = 4096

// validate reports every problem at once, in an error that wraps ErrInvalid.
func (c Config) validate() error {
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	c.validateMembers(wrong)
	if c.Groups < 1 || c.Groups > groupsMax {
		wrong("Groups is %d; it must be 1 to %d", c.Groups, groupsMax)
	}
	if c.Dir == "" {
		wrong("Dir is empty")
	}
	if c.Incarnation == 0 {
		wrong("Incarnation is 0; starts are counted from 1")
	}
	if c.Deployment == 0 {
		wrong("Deployment is 0, which the engine takes for none")
	}
	if c.Election <= 0 {
		wrong("Election is %v; it must be positive", c.Election)
	}
	for _, field := range []struct{ name, address string }{{"Address", c.Address}, {"Listen", c.Listen}} {
		if !addressForm(field.address) {
			wrong("%s is %q, not an address", field.name, field.address)
		}
	}
	for _, field := range []struct {
		name    string
		missing bool
	}{
		{"Resolve", c.Resolve == nil},
		{"Network", c.Network == nil},
		{"Store", c.Store == nil},
		{"Genesis", c.Genesis == nil},
		{"Clock", c.Clock == nil},
		{"Sink", c.Sink == nil},
	} {
		if field.missing {
			wrong("%s is missing", field.name)
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrInvalid, errors.Join(problems...))
}

func (c Config) validateMembers(wrong func(string, ...any)) {
	if n := len(c.Members); n < 1 || n > membersMax {
		wrong("Members has %d nodes; it must have 1 to %d", n, membersMax)
	}
	if !slices.Contains(c.Members, c.Node) {
		wrong("Node %d is not one of Members %v", c.Node, c.Members)
	}
	if c.HostID == nil {
		wrong("HostID is missing")
	}
	ids := make(map[string]statemachine.NodeID)
	seen := make(map[statemachine.NodeID]bool)
	for _, member := range c.Members {
		if member == 0 || seen[member] {
			wrong("Members %v names node %d twice, or a node 0", c.Members, member)
		}
		seen[member] = true
		if c.HostID == nil {
			continue
		}
		id := c.HostID(member)
		if !hostIDForm(id) {
			wrong("HostID of node %d is %q, not a UUID in lower case", member, id)
		}
		if other, taken := ids[id]; taken && other != member {
			wrong("HostID of nodes %d and %d is the same", other, member)
		}
		ids[id] = member
	}
}

// hostIDForm reports whether id is a UUID in lower-case hexadecimal with
// hyphens. The engine also reads other forms, but writes this one, so that
// another would differ from itself after a restart.
func hostIDForm(id string) bool {
	if len(id) != 36 {
		return false
	}
	for i, r := range []byte(id) {
		switch hyphen := i == 8 || i == 13 || i == 18 || i == 23; {
		case hyphen != (r == '-'):
			return false
		case !hyphen && !strings.ContainsRune("0123456789abcdef", rune(r)):
			return false
		}
	}
	return true
}

// addressMax bounds the text of an address.
const addressMax = 512

// addressForm reports whether text can be an address of a Network, which has
// its own idea of them: printable, without spaces, not too long.
func addressForm(text string) bool {
	if text == "" || len(text) > addressMax {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f })
}
