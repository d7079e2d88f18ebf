package main

import (
	"bytes"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/transport"
)

// told remembers what a program in this process said, and tells when a line
// matched.
type told struct {
	form    *regexp.Regexp
	matched chan struct{} // closed by Write

	mu   sync.Mutex
	text bytes.Buffer
	once sync.Once
}

func newTold(form *regexp.Regexp) *told { return &told{form: form, matched: make(chan struct{})} }

// Write takes one line, as Fprintf writes them.
func (o *told) Write(line []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.form.Match(bytes.TrimSuffix(line, []byte("\n"))) {
		o.once.Do(func() { close(o.matched) })
	}
	return o.text.Write(line)
}

func (o *told) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func TestParse(t *testing.T) {
	s, err := parse([]string{"-tls=certs", "-service=app.prod", "-replicas=5", "-port=7500", "-dir=d"}, "app-4")
	require.NoError(t, err)
	require.Equal(t, coordinator.NodeID(5), s.node)
	require.Equal(t, "app-4.app.prod:7500", s.peers[5])
	require.Len(t, s.peers, 5)
	require.Equal(t, 20*time.Second, s.hold)
	require.Equal(t, "billing", s.config().Cluster)
	require.Zero(t, s.config().Epoch)
	require.Equal(t, coordinator.DefaultGroups, s.config().Groups)
	require.Equal(t, transport.TLS{CAFile: "certs/ca.pem", CertFile: "certs/node-5.pem", KeyFile: "certs/node-5.key"}, s.config().TLS)

	s, err = parse([]string{
		"-insecure", "-node=2", "-peers=1=a:1,2=b:2,3=c:3", "-cluster=orders", "-epoch=4", "-groups=16",
	}, "any host")
	require.NoError(t, err)
	require.Equal(t, coordinator.NodeID(2), s.node)
	require.Equal(t, map[coordinator.NodeID]string{1: "a:1", 2: "b:2", 3: "c:3"}, s.peers)
	require.True(t, s.config().TLS.IsInsecure())
	require.Equal(t, "orders", s.config().Cluster)
	require.Equal(t, uint64(4), s.config().Epoch)
	require.Equal(t, 16, s.config().Groups)
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		want string
		args []string
	}{
		{"either -tls or -insecure", []string{"-service=app"}},
		{"either -tls or -insecure", []string{"-service=app", "-tls=d", "-insecure"}},
		{"either -service or -peers", []string{"-insecure"}},
		{"either -service or -peers", []string{"-insecure", "-service=app", "-peers=1=a:1"}},
		{"is not id=host:port", []string{"-insecure", "-peers=1"}},
		{"is not id=host:port", []string{"-insecure", "-peers=x=a:1"}},
		{"-port is 65536", []string{"-insecure", "-service=app", "-port=65536"}},
		{"replicas is 2", []string{"-insecure", "-service=app", "-replicas=2"}},
		{"-hold is 1s: a step takes 2s", []string{"-insecure", "-service=app", "-hold=1s", "-step=2s"}},
		{"unknown argument", []string{"-insecure", "-service=app", "more"}},
	} {
		_, err := parse(c.args, "app-0")
		require.ErrorContains(t, err, c.want, c.args)
	}
	_, err := parse([]string{"-insecure", "-service=app"}, "laptop")
	require.ErrorContains(t, err, `hostname "laptop"`)
}
