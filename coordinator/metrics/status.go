package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/palisade-go/palisade/coordinator"
)

// tick is how often the delay of the scheduler is measured.
const tick = time.Second

// Watch adds what c.Status tells to the metrics, and measures how late timers are in
// this process, until c takes no more requests. Call it once, after Open.
func (m *Metrics) Watch(c *coordinator.Coordinator) {
	m.watched.Store(&status{c.Status})
	go func() {
		timer := time.NewTimer(tick)
		defer timer.Stop()
		for began := time.Now(); ; began = time.Now() {
			timer.Reset(tick)
			select {
			case <-c.Done():
				return
			case <-timer.C:
				m.delays.Observe((time.Since(began) - tick).Seconds())
			}
		}
	}()
}

// status is where gauges come from at the time of a scrape.
type status struct{ read func() coordinator.Status }

var (
	requests     = desc("requests", "Requests of this node that wait, hold or are being given back.")
	groupLeads   = desc("group_leads", "1: this node leads the group.", "group")
	groupLeader  = desc("group_has_leader", "1: a leader of the group is known.", "group")
	groupApplied = desc("group_applied", "Log index that was applied here.", "group")
	groupLeases  = desc("group_leases", "Leases of all nodes in the group.", "group")
	groupWaits   = desc("group_waits", "Requests of all nodes in line in the group.", "group")
	groupQueue   = desc("group_longest_queue", "Requests in the longest queue of the group.", "group")
	peerReached  = desc("peer_reached", "1: the last attempt to reach the peer succeeded.", "peer")
	diskFree     = desc("disk_free_bytes", "Bytes free for the data directory.")
	up           = desc("up", "0: the node had to stop by itself.")

	statusDescs = []*prometheus.Desc{
		requests, groupLeads, groupLeader, groupApplied, groupLeases, groupWaits, groupQueue, peerReached, diskFree, up,
	}
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
}

func (s *status) collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	now := s.read()
	gauge(requests, float64(now.Requests))
	for _, g := range now.Groups {
		group := strconv.Itoa(g.Group)
		gauge(groupLeads, number(g.Leader == now.NodeID), group)
		gauge(groupLeader, number(g.Leader != 0), group)
		gauge(groupApplied, float64(g.Applied), group)
		gauge(groupLeases, float64(g.Leases), group)
		gauge(groupWaits, float64(g.Waits), group)
		gauge(groupQueue, float64(g.LongestQueue), group)
	}
	for _, p := range now.Peers {
		gauge(peerReached, number(p.Reached), strconv.FormatUint(uint64(p.NodeID), 10))
	}
	gauge(diskFree, float64(now.DiskFreeBytes))
	gauge(up, number(now.Err == nil))
}

func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
