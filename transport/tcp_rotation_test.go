package transport_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
	"github.com/palisade-go/palisade/transport/transporttest"
)

// member is a node whose certificates change while it runs.
type member struct {
	network *transport.TCP
	node    uint64
	dir     string
	addr    string
	in      inbox
	log     *journal
}

func newMember(t *testing.T, authority *transporttest.Authority, node uint64) *member {
	t.Helper()
	cfg := secure(t, authority, node)
	m := &member{node: node, dir: filepath.Dir(cfg.TLS.CAFile), in: make(inbox, 64)}
	cfg.Logger, m.log = newJournal()
	m.network = newTCP(t, cfg)
	m.addr = serve(t, m.network, "127.0.0.1", m.in)
	return m
}

// certify gives the member new files.
func (m *member) certify(t *testing.T, by *transporttest.Authority, trusted ...*transporttest.Authority) {
	t.Helper()
	by.Certify(t, m.dir, transporttest.Holder{Cluster: "billing", Node: m.node}, trusted...)
}

func TestCertificatesChangeWithoutARestart(t *testing.T) {
	first, second := transporttest.NewAuthority(t), transporttest.NewAuthority(t)
	a, b := newMember(t, first, 1), newMember(t, first, 2)
	bothWays := func(when string) {
		t.Helper()
		requireLink(t, a.network, b.addr, b.in, when)
		requireLink(t, b.network, a.addr, a.in, when)
	}
	old := requireLink(t, a.network, b.addr, b.in, "before")
	bothWays("before")

	// Each step is of one node alone, as a rotation is, and the other one has
	// to take it at both ends of a link.
	a.certify(t, first, first, second)
	bothWays("a trusts both")
	b.certify(t, first, first, second)
	bothWays("b trusts both")
	a.certify(t, second, first, second)
	bothWays("a has its new certificate")
	b.certify(t, second, first, second)
	bothWays("b has its new certificate")
	a.certify(t, second)
	bothWays("a trusts the new authority alone")
	b.certify(t, second)
	bothWays("b trusts the new authority alone")

	send(t, old, "still")
	require.Equal(t, "still", b.in.next(t), "a link that is open stays")
	late := newMember(t, first, 3)
	for _, ends := range []struct{ from, to *member }{{late, a}, {a, late}} {
		_, err := dialTCP(t, ends.from.network, ends.to.addr)
		require.ErrorIs(t, err, transport.ErrRefused, "who was left behind, from %d to %d", ends.from.node, ends.to.node)
	}
}

// A node that only accepts, or only dials, has no other way to notice.
func TestCertificatesChangeAtTheEndThatIsUsed(t *testing.T) {
	first, second := transporttest.NewAuthority(t), transporttest.NewAuthority(t)
	accepting, dialling := newMember(t, first, 1), newMember(t, first, 2)
	requireLink(t, dialling.network, accepting.addr, accepting.in, "before")
	accepting.certify(t, second, first)
	dialling.certify(t, first, second)
	requireLink(t, dialling.network, accepting.addr, accepting.in, "each trusts the authority of the other alone")
}

func TestABrokenChangeOfCertificatesLeavesTheOld(t *testing.T) {
	authority := transporttest.NewAuthority(t)
	a, b := newMember(t, authority, 1), newMember(t, authority, 2)
	for _, c := range breakages {
		t.Run(c.statement, func(t *testing.T) {
			before := a.log.count(brokenMessage)
			c.breaks(t, authority, transport.TLS{
				CAFile: filepath.Join(a.dir, "ca.pem"), CertFile: filepath.Join(a.dir, "cert.pem"), KeyFile: filepath.Join(a.dir, "key.pem"),
			})
			requireLink(t, a.network, b.addr, b.in, "dialled")
			requireLink(t, b.network, a.addr, a.in, "accepted")
			require.Equal(t, before+1, a.log.count(brokenMessage))
			a.certify(t, authority)
			requireLink(t, a.network, b.addr, b.in, "mended")
		})
	}
}
