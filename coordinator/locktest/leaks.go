package locktest

import (
	"context"
	"fmt"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"time"
)

// leaks finds goroutines of the cluster that go on after it has stopped. A
// node is opened under a label of the profiler, which every goroutine hands
// down to those that it starts; so other clusters in the process don't matter.
type leaks struct{ label string }

// leakLabel is the key of that label.
const leakLabel = "locktest"

// clusters numbers the clusters of the process, so that no two have the same
// label.
var clusters atomic.Uint64

func newLeaks() *leaks { return &leaks{label: fmt.Sprintf("cluster-%d", clusters.Add(1))} }

// watch runs open so that its goroutines carry the label.
func (l *leaks) watch(open func()) {
	pprof.Do(context.Background(), pprof.Labels(leakLabel, l.label), func(context.Context) { open() })
}

// wait waits until no goroutine carries the label, for at most limit, and
// returns the stacks of those that still do then.
func (l *leaks) wait(limit time.Duration) string {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	for {
		left := l.left()
		if left == "" {
			return ""
		}
		select {
		case <-again.C:
		case <-timer.C:
			return left
		}
	}
}

// left returns the stacks of the goroutines that carry the label.
func (l *leaks) left() string {
	var profile strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		return fmt.Sprintf("the profile of goroutines can't be had: %v", err)
	}
	mark := fmt.Sprintf("%q:%q", leakLabel, l.label)
	var found []string
	for _, stack := range strings.Split(profile.String(), "\n\n") {
		if strings.Contains(stack, mark) {
			found = append(found, stack)
		}
	}
	return strings.Join(found, "\n\n")
}
