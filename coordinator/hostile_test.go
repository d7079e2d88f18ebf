package coordinator_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/transport"
	"github.com/palisade-go/palisade/transport/transporttest"
)

var hostileConnections = flag.Int("hostile", hostileDefault, "number of hostile connections")

// attacker opens connections that no node would. Package transport's own test
// has more sorts, and knows its wire format; here they meet a cluster at work.
type attacker struct {
	*transporttest.Strangers
	random  *rand.Rand // each worker has its own
	foreign *tls.Config
}

// attack makes one connection to an address.
func (a *attacker) attack(address string) {
	conn := a.Dial(address)
	if conn == nil {
		return
	}
	switch a.random.IntN(6) {
	case 0: // garbage
		noise := make([]byte, 1+a.random.IntN(2000))
		for at := range noise {
			noise[at] = byte(a.random.Uint32())
		}
		a.Say(conn, noise)
	case 1: // a huge length, in plaintext
		a.Say(conn, append([]byte("palisade\x01"), bytes.Repeat([]byte{0xff}, 8)...))
	case 2: // a huge length, in TLS
		a.Say(conn, []byte{0x16, 3, 1, 0xff, 0xff})
	case 3: // half a handshake, and silence
		_, _ = conn.Write([]byte{0x16, 3, 1, 1, 0, 1, 0, 0, 252, 3, 3})
		a.Stay(conn)
	case 4: // nothing at all
		a.Stay(conn)
	default: // the certificate of another authority
		a.Say(tls.Client(conn, a.foreign), []byte("never heard"))
	}
}

// Thousands of strangers at the ports of a cluster at work: no lease is lost,
// the work goes on, and memory stays.
func TestHostileConnectionsCostNoLease(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	ours := transporttest.NewAuthority(t)
	own := map[int]transport.TLS{}
	for node := 1; node <= 3; node++ {
		own[node] = ours.Certify(t, t.TempDir(), transporttest.Holder{Cluster: "locktest", Node: uint64(node)})
	}
	var addresses []string
	cluster := newCluster(t, 3, locktest.WithTCP(), locktest.WithConfig(func(node int, cfg *coordinator.Config) {
		cfg.TLS = own[node]
		addresses = []string{cfg.Peers[1], cfg.Peers[2], cfg.Peers[3]}
	}))
	var held []*coordinator.Lease
	for _, n := range cluster.Nodes() {
		lease, err := n.Coordinator().Acquire(patient(t), fmt.Sprint("held by ", n.Number()))
		require.NoError(t, err)
		held = append(held, lease)
	}
	foreign := transporttest.NewAuthority(t).Certify(t, t.TempDir(), transporttest.Holder{Cluster: "locktest", Node: 3})
	pair, err := tls.LoadX509KeyPair(foreign.CertFile, foreign.KeyFile)
	require.NoError(t, err)
	papers := &tls.Config{Certificates: []tls.Certificate{pair}, InsecureSkipVerify: true, NextProtos: []string{"palisade-messages/1"}}

	heap, goroutines := coordinator.HeapInUse(), runtime.NumGoroutine()
	strangers := transporttest.NewStrangers(t, 300)
	defer strangers.Close()
	var met, peak atomic.Int64
	var attacking sync.WaitGroup
	for worker := range uint64(24) {
		a := &attacker{Strangers: strangers, random: rand.New(rand.NewPCG(seed, worker)), foreign: papers}
		attacking.Add(1)
		go func() {
			defer attacking.Done()
			for n := met.Add(1); n <= int64(*hostileConnections); n = met.Add(1) {
				a.attack(addresses[n%3])
				if n%1000 == 0 {
					peak.Store(max(peak.Load(), int64(coordinator.HeapInUse())))
				}
			}
		}()
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		attacking.Wait()
	}()
	turns := 0
	for working := true; working; turns++ {
		c := cluster.Node(1 + turns%3).Coordinator()
		require.NoError(t, c.Do(patient(t), fmt.Sprint("work ", turns%10), func(context.Context, *coordinator.Lease) error { return nil }))
		select {
		case <-over:
			working = false
		default:
		}
	}
	for _, lease := range held {
		require.NoError(t, lease.Err(), "a lease held throughout")
		require.NoError(t, lease.Release(patient(t)))
	}
	for _, n := range cluster.Nodes() {
		s := n.Coordinator().Status()
		require.Zero(t, s.LostWindow+s.LostGroup+s.Expiries, "node %d lost no lease", n.Number())
	}
	t.Logf("%d hostile connections, %d leases taken and released meanwhile, heap %d KiB before and %d KiB at most",
		*hostileConnections, turns, heap>>10, peak.Load()>>10)
	require.Less(t, peak.Load(), int64(heap)+64<<20, "memory while it lasts")
	strangers.Close()
	require.NoError(t, cluster.Await(patient(t), "the end of the connections' goroutines", func() bool {
		runtime.Gosched()
		return runtime.NumGoroutine() <= goroutines+8 // engine and links start a few as they need them
	}))
	require.Less(t, coordinator.HeapInUse(), heap+16<<20, "memory when it is over")
}
