package dashboard

import (
	"math/bits"
	"time"
)

const (
	// trendMinutes is how long the trend looks back.
	trendMinutes = 60
	// waitBuckets are for waits of up to 2^0, 2^1, … of 1/16 ms, the last one, about
	// 36 hours, for all that are longer.
	waitBuckets = 32
	waitUnit    = time.Millisecond / 16
)

// minute counts what happened in one minute.
type minute struct {
	at                               int64 // since 1970
	acquired, failed, losses, leader int
	waits                            [waitBuckets]int
}

// trend counts by the minute. What is older than an hour is written over.
type trend struct{ minutes [trendMinutes]minute }

// of returns the counts of the minute of an instant.
func (t *trend) of(at time.Time) *minute {
	n := at.Unix() / 60
	m := &t.minutes[((n%trendMinutes)+trendMinutes)%trendMinutes]
	if m.at != n {
		*m = minute{at: n}
	}
	return m
}

func (m *minute) wait(d time.Duration) {
	m.waits[min(bits.Len64(uint64(max(0, d-1)/waitUnit)), waitBuckets-1)]++
}

// quantile returns how long that part of the waits took at most, rounded up to a
// bucket; 0 without waits.
func (m *minute) quantile(part float64) time.Duration {
	all := 0
	for _, n := range m.waits {
		all += n
	}
	sum := 0
	for i, n := range m.waits {
		if sum += n; n > 0 && float64(sum) >= part*float64(all) {
			return waitUnit << i
		}
	}
	return 0
}

// view returns the minutes up to now, the oldest first.
func (t *trend) view(now time.Time) []Minute {
	all := make([]Minute, trendMinutes)
	for i := range all {
		at := now.Add(time.Duration(i-trendMinutes+1) * time.Minute)
		m := minute{at: at.Unix() / 60}
		if counted := t.minutes[((m.at%trendMinutes)+trendMinutes)%trendMinutes]; counted.at == m.at {
			m = counted
		}
		all[i] = Minute{
			At: time.Unix(m.at*60, 0).UTC(), Acquired: m.acquired, Failed: m.failed, Losses: m.losses, LeaderChanges: m.leader,
			WaitP50: seconds(m.quantile(0.5)), WaitP99: seconds(m.quantile(0.99)),
		}
	}
	return all
}
