package raftnode

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
)

// usage is what this process has used.
type usage struct {
	cpu      time.Duration
	switches int64 // of threads that had nothing to do
	mallocs  uint64
	frames   int64
}

func usageNow(count *counter) usage {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{time.Duration(u.Utime.Nano() + u.Stime.Nano()), u.Nvcsw, m.Mallocs, count.sent.Load()}
}

// BenchmarkIdle lets three nodes over TCP do nothing with the default election
// timeout, each time until they have sent 200 frames. They share one process and its
// threads, so it is less than what three processes use.
func BenchmarkIdle(b *testing.B) {
	for _, groups := range []int{8, 64} {
		b.Run(fmt.Sprintf("%dGroups", groups), func(b *testing.B) {
			count := &counter{met: make(chan struct{}, 1)}
			c := start(b, 3, overTCP(), withGroups(groups), withConfig(func(cfg *Config) {
				cfg.Election, cfg.Network = time.Second, countedNetwork{cfg.Network, count}
			}))
			for group := statemachine.GroupID(1); group <= statemachine.GroupID(groups); group++ {
				c.anyone().send(group)
			}
			b.ResetTimer()
			before, began := usageNow(count), time.Now()
			count.await(b, 200*int64(b.N))
			seconds := time.Since(began).Seconds()
			after := usageNow(count)
			require.Positive(b, after.frames-before.frames)
			b.ReportMetric(100*(after.cpu-before.cpu).Seconds()/seconds, "%core")
			b.ReportMetric(float64(after.switches-before.switches)/seconds, "switches/s")
			b.ReportMetric(float64(after.mallocs-before.mallocs)/seconds, "mallocs/s")
			b.ReportMetric(float64(after.frames-before.frames)/seconds, "frames/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}
