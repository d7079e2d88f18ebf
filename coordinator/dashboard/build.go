package dashboard

import (
	"encoding/hex"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/palisade-go/palisade/coordinator"
)

const (
	rowsPerPage  = 100
	hotShown     = 20
	hitsMax      = 100
	waitersShown = 200 // on a page of a key
)

// choice is what of the lists somebody wants to see.
type choice struct {
	sort string
	page int // from 1
}

// view builds what the page shows at an instant.
func (d *Dashboard) view(now time.Time, c choice) View {
	v := View{
		At: now.UTC(), Node: Node{Problems: []string{}}, Peers: []Peer{}, Groups: []Group{}, Queues: []Key{},
		WaitsFor: []WaitsFor{}, Leases: Leases{Sort: c.sort, Page: 1, Pages: 1, Rows: []Key{}},
	}
	d.mu.Lock()
	m := &d.memory
	v.Hot, v.Losses, v.Events, v.Trend = m.heat.hottest(now, hotShown), m.losses.newest(), m.events.newest(), m.trend.view(now)
	v.WaitEnds, v.Dropped = maps.Clone(m.waitEnds), m.dropped
	d.mu.Unlock()
	w := d.watched.Load()
	if w == nil {
		v.Node.Problems = append(v.Node.Problems, "the node is not open yet")
		return v
	}
	v.status(w.node.Status())
	v.Node.Watched = seconds(now.Sub(w.since))
	found := d.survey.of(w.node)
	v.Survey = Survey{Age: seconds(max(0, now.Sub(found.at))), Took: seconds(found.took)}
	all := found.leases[c.sort]
	v.Leases.Listed, v.Leases.Pages = len(all), max(1, (len(all)+rowsPerPage-1)/rowsPerPage)
	v.Leases.More = len(all) == listed && v.Totals.Keys > listed
	v.Leases.Page = min(max(1, c.page), v.Leases.Pages)
	for _, k := range all[(v.Leases.Page-1)*rowsPerPage : min(v.Leases.Page*rowsPerPage, len(all))] {
		v.Leases.Rows = append(v.Leases.Rows, d.key(k, found.at))
	}
	for _, k := range found.queues {
		v.Queues = append(v.Queues, d.key(k, found.at))
	}
	v.WaitsFor = waitsFor(w.node, found.queues)
	v.Cycle = hasCycle(v.WaitsFor)
	return v
}

// status shows what the node knows of itself and its groups.
func (v *View) status(s coordinator.Status) {
	n := &v.Node
	n.Open, n.Cluster, n.ID, n.Incarnation = s.Err == nil, s.Cluster, uint64(s.NodeID), s.Incarnation
	n.Requests, n.DiskFree = s.Requests, s.DiskFreeBytes
	problem := func(format string, args ...any) { n.Problems = append(n.Problems, fmt.Sprintf(format, args...)) }
	if s.Err != nil {
		problem("the node has ended: %v", s.Err)
	}
	if s.DiskErr != nil {
		problem("%v", s.DiskErr)
	}
	if !s.Admitted {
		problem("not every peer has let this node's directory in yet")
	}
	for _, p := range s.Peers {
		peer := Peer{ID: uint64(p.NodeID), Address: p.Address, Reached: p.Reached}
		if p.Err != nil {
			peer.Problem = p.Err.Error()
		}
		if !p.Reached {
			problem("node %d is not reached", p.NodeID)
		}
		v.Peers = append(v.Peers, peer)
	}
	for _, g := range s.Groups {
		if g.Leader == 0 && s.Err == nil {
			problem("group %d has no leader", g.Group)
		}
		group := Group{
			ID: g.Group, Leader: uint64(g.Leader), Term: g.Term, Applied: g.Applied, Applying: seconds(g.Applying),
			Leases: g.Leases, Waiters: g.Waits, LongestQueue: g.LongestQueue, Nodes: []Heard{},
		}
		for _, h := range g.Nodes {
			group.Nodes = append(group.Nodes, Heard{uint64(h.NodeID), h.Incarnation != 0, seconds(h.Heard), h.Left})
		}
		v.Groups = append(v.Groups, group)
		v.Totals.Leases += g.Leases
		v.Totals.Waiters += g.Waits
		v.Totals.Keys += g.Keys
	}
}

// key shows a key as of an instant.
func (d *Dashboard) key(k coordinator.KeyState, at time.Time) Key {
	row := Key{
		Key: strings.ToValidUTF8(k.Key, "\uFFFD"), KeyHex: hex.EncodeToString([]byte(k.Key)), Group: k.Group, Waiters: k.Waiters,
		Queue: d.line(k.Queue, 1, at),
	}
	if h := k.Holder; h != nil {
		row.Held, row.Holder, row.Token = true, uint64(h.Node), h.Token.String()
		row.Age, row.TTL, row.Left = seconds(max(0, at.Sub(h.Since))), seconds(k.TTL), seconds(k.Remaining)
		row.Request = h.RequestID
		row.Meta = d.metadata(h.Metadata)
	}
	return row
}

// line shows waiters, of which the first has a place in line.
func (d *Dashboard) line(queue []coordinator.Waiter, place int, at time.Time) []Waiter {
	line := make([]Waiter, len(queue))
	for i, w := range queue {
		line[i] = Waiter{
			Place: place + i, Node: uint64(w.Node), Waits: seconds(max(0, at.Sub(w.Since))), Request: w.RequestID,
			Meta: d.metadata(w.Metadata),
		}
	}
	return line
}

func (d *Dashboard) metadata(s string) string {
	if !d.options.ShowMetadata {
		return ""
	}
	return s
}

// hits looks for the keys that begin with a text.
func (d *Dashboard) hits(now time.Time, c *coordinator.Coordinator, prefix string) Hits {
	h := Hits{Prefix: prefix, Keys: []Key{}}
	d.survey.mu.Lock() // one goes over all keys at a time
	defer d.survey.mu.Unlock()
	for k := range c.Keys(headOfLine) {
		if !strings.HasPrefix(k.Key, prefix) {
			continue
		}
		if len(h.Keys) == hitsMax {
			h.More = true
			break
		}
		h.Keys = append(h.Keys, d.key(k, now))
	}
	return h
}
