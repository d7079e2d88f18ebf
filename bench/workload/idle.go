package workload

import (
	"context"
	"fmt"
	"time"

	"github.com/palisade-go/palisade/bench/member"
)

// settle is how long a new cluster is left alone before it counts as idle.
const settle = 2 * time.Second

// rest waits, unless the run is stopped.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// idle watches what the members use while nobody asks for anything. groups is 0 for
// the number that the peer has by itself.
func idle(groups int) Workload {
	w := Workload{
		Name:   "idle",
		About:  "an idle cluster, all members together",
		Groups: groups,
		Measure: func(ctx context.Context, t Trial) (Values, error) {
			if err := rest(ctx, settle); err != nil {
				return nil, err
			}
			before, err := member.UsageOf(t.Cluster.Processes())
			if err != nil {
				return nil, err
			}
			began := time.Now()
			if err := rest(ctx, t.Idle); err != nil {
				return nil, err
			}
			after, err := member.UsageOf(t.Cluster.Processes())
			if err != nil {
				return nil, err
			}
			v := Values{}
			v.set(CPU, 100*after.Sub(before).CPU.Seconds()/time.Since(began).Seconds())
			return v, nil
		},
	}
	if groups > 0 {
		w.Name += fmt.Sprintf("-%d", groups)
		w.About += fmt.Sprintf(", with %s", count(groups, "group"))
	}
	return w
}
