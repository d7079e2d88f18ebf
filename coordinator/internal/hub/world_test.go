package hub

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/scenariotest"
	"github.com/palisade-go/palisade/statemachine"
)

// world carries out what happens around the hub.
func (d *director) world(c scenariotest.Command) bool {
	switch c.Verb {
	case "deliver", "drop":
		for i := range c.Words() {
			number := statemachine.BatchNumber(c.Number(i))
			data, ok := d.air[number]
			require.True(d.t, ok, "batch %d is not in the air", number)
			if c.Verb == "drop" {
				delete(d.air, number)
				continue
			}
			batch, err := statemachine.DecodeBatch(data)
			require.NoError(d.t, err)
			d.commit(batch)
		}
	case "other":
		d.other(c)
	case "expire":
		presence, _ := d.machine.Presence(self)
		d.leader(statemachine.Expire{
			Node: self, Incarnation: presence.Incarnation,
			Last: statemachine.BatchNumber(c.Uint("last", uint64(presence.Last))), TTL: c.Duration("ttl", 10*time.Second),
		})
	case "limit":
		d.leader(statemachine.ExpireLimit{Lease: statemachine.LeaseID{
			Node: self, Incarnation: 1, Seq: d.hub.byRef[d.refs[c.Word(0)]].seq,
		}})
	case "sweep":
		d.leader(statemachine.Sweep{Node: self})
	case "impostor":
		d.impostor(c)
	case "stall":
		d.stalled = true
	case "resume":
		d.stalled = false
		for _, e := range d.behind {
			d.hub.Applied(e.index, e.events, d.now)
			d.hub.Flush(d.now)
		}
		d.behind = nil
	case "save":
		d.saved[c.Word(0)] = d.snapshot()
	case "install":
		state, ok := d.saved[c.Word(0)]
		if !ok {
			state = d.snapshot()
		}
		d.hub.Installed(state, d.now)
		d.hub.Flush(d.now)
	case "state":
		d.state()
	default:
		return false
	}
	return true
}

// commit appends a batch to the log, and tells the hub unless its replica is
// stalled.
func (d *director) commit(b statemachine.Batch) {
	d.index++
	events := d.machine.Apply(d.index, b)
	d.out.log(d.index, events)
	switch {
	case len(events) == 0:
	case d.stalled:
		d.behind = append(d.behind, entry{d.index, events})
	default:
		d.hub.Applied(d.index, events, d.now)
		d.hub.Flush(d.now)
		d.told()
	}
}

func (d *director) leader(c statemachine.Command) {
	d.commit(statemachine.Batch{Commands: []statemachine.Command{c}})
}

// other commits a batch of another node with one command.
func (d *director) other(c scenariotest.Command) {
	node, seq := statemachine.NodeID(c.Number(0)), statemachine.Seq(c.Number(2))
	d.others[node]++
	var command statemachine.Command
	switch verb := c.Word(1); verb {
	case "acquire", "try":
		command = statemachine.Acquire{
			Seq: seq, Claims: claims(c.Words()[3:]), Wait: verb == "acquire", TTL: c.Duration("ttl", 10*time.Second),
		}
	case "cancel":
		command = statemachine.Cancel{Seq: seq}
	case "release":
		command = statemachine.Release{Seq: seq}
	default:
		require.Fail(d.t, "no such command of another node", verb)
	}
	d.commit(statemachine.Batch{
		Node: node, Directory: statemachine.DirectoryID{byte(node)}, Incarnation: 1, Number: d.others[node],
		Speaks: statemachine.Binary, Commands: []statemachine.Command{command},
	})
}

// impostor commits a batch of this node's id that the hub did not send.
func (d *director) impostor(c scenariotest.Command) {
	b := statemachine.Batch{
		Node: self, Directory: statemachine.DirectoryID{byte(c.Uint("directory", 1))},
		Incarnation: statemachine.Incarnation(c.Uint("incarnation", 1)),
		Number:      statemachine.BatchNumber(c.Uint("number", 1)), Speaks: statemachine.Binary,
	}
	if seq := c.Uint("release", 0); seq != 0 {
		b.Commands = append(b.Commands, statemachine.Release{Seq: statemachine.Seq(seq)})
	}
	if seq := c.Uint("acquire", 0); seq != 0 {
		b.Commands = append(b.Commands, statemachine.Acquire{
			Seq: statemachine.Seq(seq), Claims: claims([]string{"k"}), Wait: true, TTL: 10 * time.Second,
		})
	}
	d.commit(b)
}

// snapshot is what a replica that has applied everything tells its hub.
func (d *director) snapshot() State {
	presence, _ := d.machine.Presence(self)
	leases, waits := d.machine.Owned(self, presence.Incarnation)
	return State{Index: d.machine.Meta().Applied, Presence: presence, Leases: leases, Waits: waits}
}

// state shows what the hub keeps, and what the machine has.
func (d *director) state() {
	d.out.line("hub: %d requests, in flight%s, %d pending", d.hub.Len(), flights(d.hub), d.hub.batcher.Pending())
	var dump strings.Builder
	require.NoError(d.t, d.machine.Dump(&dump))
	for _, line := range strings.Split(dump.String(), "\n") {
		if kind, _, _ := strings.Cut(line, " "); kind == "lease" || kind == "wait" || kind == "key" {
			d.out.line("machine: %s", line)
		}
	}
}
