package raftnode

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/statemachine/pebblestore"
	"github.com/palisade-go/palisade/transport"
)

// sound returns a configuration that validate accepts.
func sound() Config {
	return Config{
		Node: 1, Incarnation: 1, Members: []statemachine.NodeID{1, 2, 3}, Groups: 8, Dir: "d", Deployment: 1,
		HostID:   hostID,
		Resolve:  func(statemachine.NodeID) (string, error) { return "", nil },
		Address:  "127.0.0.1:7400",
		Listen:   ":7400",
		Network:  transport.NewMemory(0),
		Store:    &pebblestore.Store{},
		Genesis:  func(statemachine.GroupID) statemachine.Genesis { return statemachine.Genesis{} },
		Election: time.Second, Clock: clock.System{},
		Sink: func(statemachine.GroupID) Sink { return newRecorder() },
	}
}

func TestValidate(t *testing.T) {
	require.NoError(t, sound().validate())
	for _, test := range []struct {
		name  string
		spoil func(*Config)
		says  string
	}{
		{"NodeMustBeAMember", func(c *Config) { c.Node = 4 }, "Node 4 is not one of Members"},
		{"MembersMustNotBeEmpty", func(c *Config) { c.Members = nil }, "Members has 0 nodes"},
		{"MembersMustNotBeTooMany", func(c *Config) { c.Members = []statemachine.NodeID{1, 2, 3, 4, 5, 6, 7, 8} }, "Members has 8 nodes; it must have 1 to 7"},
		{"MembersMustBeDistinct", func(c *Config) { c.Members = []statemachine.NodeID{1, 1} }, "twice"},
		{"NoMemberIsZero", func(c *Config) { c.Members = []statemachine.NodeID{0, 1} }, "node 0"},
		{"StartsAreCountedFromOne", func(c *Config) { c.Incarnation = 0 }, "Incarnation is 0"},
		{"GroupsMustBePositive", func(c *Config) { c.Groups = 0 }, "Groups is 0; it must be 1 to 4096"},
		{"GroupsAreBounded", func(c *Config) { c.Groups = 4097 }, "Groups is 4097"},
		{"DirMustBeGiven", func(c *Config) { c.Dir = "" }, "Dir is empty"},
		{"DeploymentMustBeGiven", func(c *Config) { c.Deployment = 0 }, "Deployment is 0"},
		{"ElectionMustBePositive", func(c *Config) { c.Election = -1 }, "Election is -1ns"},
		{"HostIDMustBeGiven", func(c *Config) { c.HostID = nil }, "HostID is missing"},
		{"HostIDMustBeAUUID", func(c *Config) { c.HostID = func(statemachine.NodeID) string { return "x" } }, `"x", not a UUID`},
		{"HostIDMustBeInLowerCase", func(c *Config) {
			c.HostID = func(id statemachine.NodeID) string { return strings.Replace(hostID(id), "5", "A", 1) }
		}, "not a UUID in lower case"},
		{"HostIDsMustDiffer", func(c *Config) { c.HostID = func(statemachine.NodeID) string { return hostID(1) } }, "is the same"},
		{"AddressMustBeGiven", func(c *Config) { c.Address = "" }, "Address is"},
		{"ListenMustBeGiven", func(c *Config) { c.Listen = "" }, "Listen is"},
		{"ListenMustNotHaveASpace", func(c *Config) { c.Listen = "127.0.0.1: 7400" }, "Listen is"},
		{"NetworkMustBeGiven", func(c *Config) { c.Network = nil }, "Network is missing"},
		{"ResolveMustBeGiven", func(c *Config) { c.Resolve = nil }, "Resolve is missing"},
		{"StoreMustBeGiven", func(c *Config) { c.Store = nil }, "Store is missing"},
		{"GenesisMustBeGiven", func(c *Config) { c.Genesis = nil }, "Genesis is missing"},
		{"ClockMustBeGiven", func(c *Config) { c.Clock = nil }, "Clock is missing"},
		{"SinkMustBeGiven", func(c *Config) { c.Sink = nil }, "Sink is missing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := sound()
			test.spoil(&cfg)
			err := cfg.validate()
			require.ErrorIs(t, err, ErrInvalid)
			require.ErrorContains(t, err, test.says)
			_, err = Open(cfg)
			require.ErrorIs(t, err, ErrInvalid)
		})
	}
	t.Run("AllProblemsAreNamedAtOnce", func(t *testing.T) {
		err := Config{}.validate()
		for _, name := range []string{"Members", "Groups", "Dir", "Deployment", "Election", "HostID", "Address", "Listen", "Resolve", "Network", "Store", "Genesis", "Clock", "Sink"} {
			require.ErrorContains(t, err, name)
		}
	})
}

func TestAddressOfANetworkIsTakenLoosely(t *testing.T) {
	for address, fine := range map[string]bool{
		"node-1:7400": true, "[::1]:7400": true, "unix:/run/x": true, "x": true,
		"": false, "a b": false, "a\n": false, "\x7f": false, strings.Repeat("x", 513): false,
	} {
		require.Equal(t, fine, addressForm(address), "%q", address)
	}
}
