package coordinator

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// heldBytes is what a single node takes for a lease that it holds: some 220
// bytes as a replica and 120 in its hub, and the rest for the lease itself.
const heldBytes = 660

// The layout of what a holder has is part of the design: a million leases must
// be reasonable. What the engine keeps besides is some 2 MiB.
func TestALeaseIsSmall(t *testing.T) {
	if sample > 1 {
		t.Skip("too few leases under the race detector: the engine's share would count")
	}
	const leases = 50_000
	each := leaseBytes(t, leases, func(*Lease) {})
	t.Logf("%d bytes a lease", each)
	require.Less(t, each, heldBytes*115/100)
}

// BenchmarkHeap is what a single node keeps in memory of a lease, both as a
// replica and as the holder. Whoever asks for a channel or a context has that
// too.
func BenchmarkHeap(b *testing.B) {
	const leases = 100_000
	measure := func(touch func(*Lease)) func(*testing.B) {
		return func(b *testing.B) {
			for range b.N {
				b.ReportMetric(float64(leaseBytes(b, leases, touch)), "B/lease")
			}
		}
	}
	b.Run("Lease", measure(func(*Lease) {}))
	b.Run("Done", measure(func(l *Lease) { l.Done() }))
	b.Run("Context", measure(func(l *Lease) { l.Context() }))
}

// leaseBytes returns how many bytes a single node takes for each of its leases,
// besides what the holder has to keep: a pointer and the key.
func leaseBytes(t testing.TB, count int, touch func(*Lease)) int {
	c := openSingle(t)
	keys := make([]string, count)
	for i := range keys {
		keys[i] = fmt.Sprintf("customer/%08d/billing", i)
	}
	leases := make([]*Lease, count)
	before := heapInUse()
	eachOf(t, 0, count, func(i int) (err error) {
		if leases[i], err = c.Acquire(context.Background(), keys[i]); err == nil {
			touch(leases[i])
		}
		return err
	})
	each := (int(heapInUse()) - int(before)) / count
	require.Equal(t, count, c.openRequests())
	runtime.KeepAlive(keys)
	runtime.KeepAlive(leases)
	return each
}
