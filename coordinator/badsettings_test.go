package coordinator_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/transport"
)

// The settings that are refused: the configuration of a node, field by field.

// settings makes a row of a change of the configuration.
func settings(name string, change func(*coordinator.Config), words ...string) badStart {
	return badStart{name: name, spoil: only(change), is: coordinator.ErrInvalid, words: words}
}

// peers returns a change of Peers.
func peers(change func(map[coordinator.NodeID]string)) func(*coordinator.Config) {
	return func(c *coordinator.Config) { change(c.Peers) }
}

var badSettings = []badStart{
	settings("NoDirectory", func(c *coordinator.Config) { c.Dir = "" }, "Dir is missing"),
	settings("NoCluster", func(c *coordinator.Config) { c.Cluster = "" }, "Cluster is missing"),
	settings("ALongCluster", func(c *coordinator.Config) { c.Cluster = strings.Repeat("c", 65) }, "Cluster: ", "1 to 64 ASCII letters"),
	settings("AnOddCluster", func(c *coordinator.Config) { c.Cluster = "billing\n" }, `"billing\n" can't be in a certificate`),

	settings("TwoPeers", peers(func(p map[coordinator.NodeID]string) { delete(p, 3) }), "Peers has 2 members: must be 1, 3, 5 or 7"),
	settings("FourPeers", peers(func(p map[coordinator.NodeID]string) { p[4] = "d.example:7400" }), "Peers has 4 members"),
	settings("NinePeers", peers(func(p map[coordinator.NodeID]string) {
		for id := coordinator.NodeID(4); id <= 9; id++ {
			p[id] = strings.Repeat("x", int(id)) + ":7400"
		}
	}), "Peers has 9 members"),
	settings("ANodeThatIsNoPeer", func(c *coordinator.Config) { c.NodeID = 9 }, "NodeID 9 is not in Peers"),
	settings("NoNodeID", func(c *coordinator.Config) { c.NodeID = 0 }, "NodeID is missing: it is required with Peers"),
	settings("APeerZero", peers(func(p map[coordinator.NodeID]string) { p[0] = p[3]; delete(p, 3) }), "Peers has a node 0"),

	settings("OneAddressTwice", peers(func(p map[coordinator.NodeID]string) { p[3] = p[2] }), "Peers[2] and Peers[3] have one address, 127.0.0.1:"),
	settings("OneAddressInAnotherCase", addresses("a.example:7400", "A.Example:7400"), "Peers[2] and Peers[3] have one address, a.example:7400"),
	settings("OneAddressWithADotAtTheEnd", addresses("a.example.:7400", "a.example:7400"), "Peers[2] and Peers[3] have one address, a.example:7400"),
	settings("OneAddressWithAnotherPortText", addresses("a.example:7400", "a.example:07400"), "Peers[2] and Peers[3] have one address, a.example:7400"),
	settings("OneAddressInTwoFormsOfIPv6", addresses("[::1]:7400", "[0:0:0:0:0:0:0:1]:7400"), "Peers[2] and Peers[3] have one address, [::1]:7400"),
	settings("OneAddressInTwoCasesOfIPv6", addresses("[fd00::ab]:7400", "[FD00:0::AB]:7400"), "Peers[2] and Peers[3] have one address, [fd00::ab]:7400"),
	settings("OneAddressAsIPv4AndInIPv6", addresses("192.0.2.7:7400", "[::ffff:192.0.2.7]:7400"), "Peers[2] and Peers[3] have one address, 192.0.2.7:7400"),

	settings("APeerWithoutAnAddress", addresses("", "c:1"), `Peers[2]: address "": missing port in address`),
	settings("APeerWithoutAPort", addresses("b.example", "c:1"), `Peers[2]: address "b.example": missing port in address`),
	settings("APeerWithoutAHost", addresses(":7400", "c:1"), `Peers[2]: address ":7400" has no host`),
	settings("APeerAtAllInterfaces", addresses("0.0.0.0:7400", "[::]:7400"), `Peers[2]: address "0.0.0.0:7400" stands for all interfaces`, `Peers[3]: address "[::]:7400" stands for all interfaces`),
	settings("APeerAtAURL", addresses("http://b.example:7400", "c:1"), `Peers[2]: address "http://b.example:7400": too many colons`),
	settings("APeerAtAnIPv6AddressWithoutBrackets", addresses("fd00::1:7400", "c:1"), `Peers[2]: address "fd00::1:7400": too many colons`),
	settings("APeerWithASpace", addresses("b .example:7400", "c\x00:7400"), `Peers[2]: address "b .example:7400": the host has a space`, `Peers[3]: address "c\x00:7400": the host has a space or a control character`),
	settings("APeerWithALongHost", addresses(strings.Repeat("h", 1<<20)+":1", "c:1"), "Peers[2]: ", "the host has 1048576 bytes, at most 254 are allowed"),
	settings("APeerWithPortZero", addresses("b:0", "c:1"), `Peers[2]: address "b:0": the port must be 1 to 65535`),
	settings("APeerWithAPortTooHigh", addresses("b:65536", "c:1"), `Peers[2]: address "b:65536": the port must be 1 to 65535`),
	settings("APeerWithANamedPort", addresses("b:http", "c:-1"), `Peers[2]: address "b:http": the port must be`, `Peers[3]: address "c:-1": the port must be`),
	settings("AListenThatIsNoAddress", func(c *coordinator.Config) { c.Listen = "nowhere" }, `Listen: address "nowhere": missing port`),
	settings("AListenWithPortZero", func(c *coordinator.Config) { c.Listen = ":0" }, `Listen: address ":0": the port must be 1 to 65535`),

	settings("QuickElections", func(c *coordinator.Config) { c.ElectionTimeout = 50 * time.Millisecond }, "ElectionTimeout is 50ms: must be 100ms to 1m0s in steps of 50ms"),
	settings("SlowElections", func(c *coordinator.Config) { c.ElectionTimeout, c.TTL = 61*time.Second, time.Hour }, "ElectionTimeout is 1m1s"),
	settings("UnevenElections", func(c *coordinator.Config) { c.ElectionTimeout = 1001 * time.Millisecond }, "ElectionTimeout is 1.001s"),
	settings("NegativeElections", func(c *coordinator.Config) { c.ElectionTimeout = -time.Second }, "ElectionTimeout is -1s"),
	settings("ElectionsThatNeverEnd", func(c *coordinator.Config) { c.ElectionTimeout = math.MaxInt64 }, "ElectionTimeout is 2562047h"),
	settings("AnEpochTooHigh", func(c *coordinator.Config) { c.Epoch = 1024 }, "Epoch is 1024: at most 1023"),
	settings("NoGroups", func(c *coordinator.Config) { c.Groups = -1 }, "Groups is -1: must be 1 to 256"),
	settings("TooManyGroups", func(c *coordinator.Config) { c.Groups = 257 }, "Groups is 257"),
	settings("AShortTTL", func(c *coordinator.Config) { c.TTL = 400*time.Millisecond - 1 }, "TTL is 399.999999ms: must be from 4 times ElectionTimeout, 400ms, to 24h0m0s"),
	settings("ANegativeTTL", func(c *coordinator.Config) { c.TTL = -1 }, "TTL is -1ns"),
	settings("ALongTTL", func(c *coordinator.Config) { c.TTL = 24*time.Hour + 1 }, "TTL is 24h0m0.000000001s"),
	settings("TooManyKeys", func(c *coordinator.Config) { c.Limits.Keys = 129 }, "Limits.Keys is 129: must be 1 to 128"),
	settings("ANegativeQueue", func(c *coordinator.Config) { c.Limits.Queue = -1 }, "Limits.Queue is -1"),
	settings("NegativeRequests", func(c *coordinator.Config) { c.Limits.Requests = -1 }, "Limits.Requests is -1"),

	settings("NoTLS", func(c *coordinator.Config) { c.TLS = transport.TLS{} }, "TLS is not set", "transport.Insecure"),
	settings("HalfOfTLS", func(c *coordinator.Config) { c.TLS = transport.TLS{CAFile: "ca.pem"} }, "TLS lacks CertFile and KeyFile"),
	settings("TLSFilesThatAreMissing", func(c *coordinator.Config) {
		c.TLS = transport.TLS{CAFile: "no-ca.pem", CertFile: "no-cert.pem", KeyFile: "no-key.pem"}
	}, "open no-ca.pem"),
	settings("TLSFilesOfAnotherKind", func(c *coordinator.Config) {
		c.TLS = transport.TLS{CAFile: "config.go", CertFile: "config.go", KeyFile: "config.go"}
	}, "CAFile: it has no certificate in PEM"),
	settings("SeveralAtOnce", func(c *coordinator.Config) { c.Dir, c.Groups, c.Epoch = "", 999, 9999 }, "Dir is missing", "Groups is 999", "Epoch is 9999"),
}

// addresses returns a change of the addresses of nodes 2 and 3.
func addresses(two, three string) func(*coordinator.Config) {
	return func(c *coordinator.Config) { c.Peers[2], c.Peers[3] = two, three }
}

var badSettingsOfOne = []badStart{
	settings("AListenWithoutANetwork", func(c *coordinator.Config) { c.Listen = ":7400" }, "Listen is :7400, but a single node has no network"),
	settings("AShortTTL", func(c *coordinator.Config) { c.TTL = 399 * time.Millisecond }, "TTL is 399ms", "400ms"),
	settings("HalfOfTLS", func(c *coordinator.Config) { c.TLS = transport.TLS{CAFile: "ca.pem"} }, "TLS lacks CertFile and KeyFile"),
	{
		name: "NoContext", is: coordinator.ErrInvalid, words: []string{"the context is nil"},
		spoil: func(_ *testing.T, s *start) func() { s.ctx = nil; return nil },
	},
	{
		name: "AContextThatHasEnded", is: context.Canceled, words: []string{"the context has ended already"},
		spoil: func(_ *testing.T, s *start) func() {
			ctx, cancel := context.WithCancel(s.ctx)
			cancel()
			s.ctx = ctx
			return nil
		},
	},
}
