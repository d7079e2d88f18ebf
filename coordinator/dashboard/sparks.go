package dashboard

import (
	"fmt"
	"strings"
)

// The size of a small chart of an hour.
const (
	sparkWidth, sparkHeight = 240, 40
	sparkStep               = sparkWidth / trendMinutes
)

// spark is a small chart: a bar a minute.
type spark struct {
	Name, Now, Most string
	Bad             bool // what it counts should not be
	Path            string
	Width, Height   int
}

// sparks draws the trend.
func sparks(minutes []Minute) []spark {
	count := func(f float64) string { return fmt.Sprintf("%.0f", f) }
	return []spark{
		newSpark("leases acquired a minute", minutes, false, count, func(m Minute) float64 { return float64(m.Acquired) }),
		newSpark("waits, p50", minutes, false, span, func(m Minute) float64 { return m.WaitP50 }),
		newSpark("waits, p99", minutes, false, span, func(m Minute) float64 { return m.WaitP99 }),
		newSpark("requests without a lease a minute", minutes, false, count, func(m Minute) float64 { return float64(m.Failed) }),
		newSpark("leases lost a minute", minutes, true, count, func(m Minute) float64 { return float64(m.Losses) }),
		newSpark("changes of leader or term a minute", minutes, false, count, func(m Minute) float64 { return float64(m.LeaderChanges) }),
	}
}

func newSpark(name string, minutes []Minute, bad bool, show func(float64) string, value func(Minute) float64) spark {
	most := 0.0
	for _, m := range minutes {
		most = max(most, value(m))
	}
	var path strings.Builder
	for i, m := range minutes {
		if v := value(m); v > 0 {
			height := max(1, v/most*sparkHeight)
			fmt.Fprintf(&path, "M%d %dv%.1f", i*sparkStep+sparkStep/2, sparkHeight, -height)
		}
	}
	return spark{
		Name: name, Now: show(value(minutes[len(minutes)-1])), Most: show(most), Bad: bad && most > 0, Path: path.String(),
		Width: sparkWidth, Height: sparkHeight,
	}
}
