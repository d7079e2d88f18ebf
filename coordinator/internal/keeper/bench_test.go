package keeper

import (
	"runtime"
	"testing"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/internal/usagetest"
	"github.com/palisade-go/palisade/statemachine"
)

// BenchmarkLease is the life of a lease at a keeper that keeps many others.
func BenchmarkLease(b *testing.B) {
	for name, limit := range map[string]time.Duration{"Plain": 0, "WithALimit": time.Hour} {
		b.Run(name, func(b *testing.B) {
			k := keeperOf(100_000, limit)
			b.ReportAllocs()
			b.ResetTimer()
			for n := range b.N {
				seq := statemachine.Seq(1_000_000 + n)
				k.Hold(seq, time.Minute, limit, clock.Instant(n))
				k.Drop(seq, time.Minute)
			}
		})
	}
}

// BenchmarkRenewal is what each turn of a group's goroutine asks of the keeper.
func BenchmarkRenewal(b *testing.B) {
	k := keeperOf(100_000, 0)
	b.ReportAllocs()
	b.ResetTimer()
	for n := range b.N {
		now := clock.Instant(n)
		k.Sent(now)
		k.Heard(now)
		k.TakeOver(now)
		k.RenewAt()
		k.Next(now)
	}
}

// BenchmarkHeap is what a keeper keeps in memory of a lease.
func BenchmarkHeap(b *testing.B) {
	const leases = 100_000
	for name, limit := range map[string]time.Duration{"Plain": 0, "WithALimit": time.Hour} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				before := usagetest.Heap()
				k := keeperOf(leases, limit)
				b.ReportMetric(float64(usagetest.Heap()-before)/leases, "B/lease")
				runtime.KeepAlive(k)
			}
		})
	}
}

// keeperOf returns a keeper of so many leases.
func keeperOf(leases int, limit time.Duration) *Keeper {
	k := New()
	k.Heard(0)
	for seq := range statemachine.Seq(leases) {
		k.Hold(seq+1, time.Minute, limit, clock.Instant(seq))
	}
	return k
}
