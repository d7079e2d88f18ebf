package hub

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/internal/usagetest"
	"github.com/palisade-go/palisade/statemachine"
)

// leaseBytes is what a hub keeps of a lease: its request, and its seq or ref in
// three maps. Each of these takes 24 to 38 bytes for it, by how full it is.
const leaseBytes = 48 + 3*24

// The layout of a request is part of the design: a million leases must be
// reasonable.
func TestALeaseIsSmall(t *testing.T) {
	each := requestBytes(t, true)
	t.Logf("%d bytes a lease", each)
	require.Less(t, each, leaseBytes*115/100)
}

// BenchmarkHeap is what a hub keeps in memory of a lease and of a request in
// line.
func BenchmarkHeap(b *testing.B) {
	for range b.N {
		b.ReportMetric(float64(requestBytes(b, true)), "B/lease")
		b.ReportMetric(float64(requestBytes(b, false)), "B/waiter")
	}
}

// requestBytes returns how many bytes a hub keeps for each of its leases, or of
// its requests in line. There are as many of them as fill the maps well, and
// the log does nothing but agree.
func requestBytes(t testing.TB, granted bool) int {
	const requests = 100_000
	h := New(testConfig(identity()))
	before := usagetest.Heap()
	index, asked, answered := statemachine.Index(0), 0, 0
	for answered < requests {
		h.Flush(0)
		for _, s := range of[Send](h.Effects()) {
			batch, err := statemachine.DecodeBatch(s.Data)
			require.NoError(t, err)
			events := []statemachine.Event{statemachine.Applied{Node: self, Incarnation: 1, Number: batch.Number}}
			for _, c := range batch.Commands {
				id := statemachine.LeaseID{Node: self, Incarnation: 1, Seq: c.(statemachine.Acquire).Seq}
				if granted {
					events = append(events, statemachine.Granted{Lease: id, Token: 1, Last: batch.Number})
				} else {
					events = append(events, statemachine.Queued{Lease: id})
				}
				answered++
			}
			index++
			h.Applied(index, events, 0)
		}
		for range min(1000, requests-asked) {
			asked++
			h.Acquire(Ref(asked), ask(fmt.Sprintf("customer/%08d/billing", asked), time.Minute), 0)
		}
	}
	h.Effects()
	require.Equal(t, requests, h.Len())
	each := (usagetest.Heap() - before) / requests
	runtime.KeepAlive(h)
	return int(each)
}
