package transport_test

import (
	"bytes"
	"log/slog"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

func TestAPeerIsNamedByWhatIsKnown(t *testing.T) {
	remote := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 7), Port: 53211}
	for _, c := range []struct {
		peer transport.Peer
		want string
	}{
		{transport.Peer{}, `a node`},
		{transport.Peer{Address: "b:7400", Remote: remote}, `a node at "b:7400"`},
		{transport.Peer{Remote: remote, Accepted: true}, `a node from 10.0.0.7:53211`},
		{transport.Peer{Hello: hello(2), Address: "b:7400", Remote: remote}, `node 2 at "b:7400"`},
		{transport.Peer{Hello: hello(2), Remote: remote, Accepted: true}, `node 2 from 10.0.0.7:53211`},
		{transport.Peer{Hello: hello(2), Address: "b:\n7400", Remote: remote, Accepted: true},
			`node 2 from 10.0.0.7:53211, calling itself "b:\n7400"`},
		{transport.Peer{Hello: hello(2), Address: "b", Accepted: true}, `node 2 at "b"`},
	} {
		require.Equal(t, c.want, c.peer.String())
	}
}

func TestALogGetsTheNameOfAPeer(t *testing.T) {
	var log bytes.Buffer
	peer := transport.Peer{Hello: hello(2), Address: "b:7400"}
	slog.New(slog.NewJSONHandler(&log, nil)).Info("met", "peer", peer)
	require.Contains(t, log.String(), `"peer":"node 2 at \"b:7400\""`)
}
