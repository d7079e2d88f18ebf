package statemachine

import (
	"fmt"
	"math/rand"
	"slices"
	"time"
)

// chaos makes the batches of three nodes that start anew, repeat themselves,
// lose batches, leave and are expired, over a few keys, so that everything
// meets everything.
type chaos struct {
	rng         *rand.Rand
	incarnation map[NodeID]Incarnation
	number      map[NodeID]BatchNumber
	seq         map[NodeID]Seq
	sent        []Batch
	floods      bool // make a batch of very many acquires
}

func newChaos(seed int64) *chaos {
	return &chaos{
		rng:         rand.New(rand.NewSource(seed)),
		floods:      seed%32 == 0,
		incarnation: make(map[NodeID]Incarnation), number: make(map[NodeID]BatchNumber), seq: make(map[NodeID]Seq),
	}
}

// next returns a batch. It looks at the machine m for what is worth ending.
func (c *chaos) next(m *Machine) Batch {
	b := c.make(m)
	c.sent = append(c.sent, b)
	return b
}

func (c *chaos) make(m *Machine) Batch {
	switch n := c.rng.Intn(100); {
	case n < 5 && len(c.sent) > 0: // once more, or an old one late
		return c.sent[len(c.sent)-1-c.rng.Intn(min(20, len(c.sent)))]
	case n < 25:
		return c.leaders(m)
	}
	node := NodeID(1 + c.rng.Intn(3))
	known, _ := m.Presence(node)
	if c.incarnation[node] == 0 || c.rng.Intn(60) == 0 || known.Left && c.rng.Intn(2) == 0 {
		c.incarnation[node]++
		c.number[node], c.seq[node] = 0, 0
	}
	c.number[node] += BatchNumber(1 + c.rng.Intn(8)/7)
	b := Batch{
		Node: node, Incarnation: c.incarnation[node], Number: c.number[node],
		Speaks: Binary, Wall: int64(c.rng.Intn(3)),
	}
	b.Directory[0] = byte(node)
	c.twist(&b)
	n := c.rng.Intn(5)
	if c.floods && len(c.sent) > 50 { // more than a slice: its end will take several
		n = SliceMax + 300
		c.floods = false
	}
	for range n {
		b.Commands = append(b.Commands, c.command(node, n > 100))
	}
	return b
}

// twist sometimes makes the batch one of a sender that is not what it should.
func (c *chaos) twist(b *Batch) {
	switch c.rng.Intn(100) {
	case 0:
		b.Directory[0] = 99
	case 1:
		b.Incarnation -= Incarnation(c.rng.Intn(2))
	case 2:
		b.Number = BatchNumber(c.rng.Intn(int(b.Number) + 1))
	case 3:
		b.Node = 9
	case 4:
		b.Speaks = Version(c.rng.Intn(2))
	}
}

func (c *chaos) command(node NodeID, many bool) Command {
	known := Seq(1 + c.rng.Int63n(int64(c.seq[node])+1))
	switch n := c.rng.Intn(100); {
	case n < 55 || many:
		return c.acquire(node, many)
	case n < 70:
		return Cancel{Seq: known}
	case n < 94:
		return Release{Seq: known}
	case n < 95:
		if c.rng.Intn(4) == 0 {
			return Leave{}
		}
		return Sweep{Node: node}
	case n < 96:
		return Unknown{Code: uint64(c.rng.Intn(3) * 40), Version: 1 + Binary}
	}
	c.seq[node]++
	return Release{Seq: c.seq[node]}
}

func (c *chaos) acquire(node NodeID, many bool) Acquire {
	c.seq[node]++
	a := Acquire{
		Seq: c.seq[node], Wait: c.rng.Intn(4) > 0, TTL: time.Duration(1 + c.rng.Intn(3)),
		Limit: time.Duration(max(0, c.rng.Intn(4)-2)), QueueMax: uint64(max(0, c.rng.Intn(10)-6)),
	}
	letters := "abcdefgh"
	for i := c.rng.Intn(len(letters)); i < len(letters) && len(a.Claims) < 4; i += 1 + c.rng.Intn(6) {
		a.Claims = append(a.Claims, Claim{Key: letters[i : i+1], Mode: Exclusive})
	}
	if many {
		a.QueueMax = 0
		if c.rng.Intn(10) > 0 {
			a.Claims = []Claim{{Key: fmt.Sprintf("k%d", a.Seq%1250), Mode: Exclusive}}
		}
	}
	if c.rng.Intn(10) == 0 {
		a.RequestID, a.Metadata = "r", "m"
	}
	switch c.rng.Intn(100) {
	case 0:
		a.Claims = append(a.Claims, a.Claims[0])
	case 1:
		a.Claims = nil
	case 2:
		a.TTL = 0
	case 3:
		a.Limit = -1
	case 4:
		slices.Reverse(a.Claims)
	case 5:
		a.Seq = Seq(c.rng.Int63n(int64(a.Seq)))
	case 6:
		a.Claims[0].Mode = 0
	case 7:
		a.Claims[0].Key = ""
	}
	return a
}

func (c *chaos) leaders(m *Machine) Batch {
	p := m.Presences()[c.rng.Intn(3)]
	commands := []Command{
		Expire{Node: p.Node, Incarnation: p.Incarnation, Last: p.Last, TTL: time.Duration(c.rng.Intn(4))},
		Sweep{Node: p.Node},
	}
	switch c.rng.Intn(8) {
	case 0:
		commands[0] = Expire{Node: p.Node, Incarnation: p.Incarnation, Last: p.Last - 1, TTL: 5}
	case 1:
		commands[0] = Expire{Node: p.Node, Incarnation: p.Incarnation - 1, Last: p.Last, TTL: 5}
	case 2:
		commands = append(commands, Upgrade{Version: Version(c.rng.Intn(2))}, Cancel{Seq: 1}, Sweep{Node: 9}, Expire{Node: 9})
	}
	leases, waits := m.Owned(p.Node, p.Incarnation)
	if len(leases) > 0 {
		commands = append(commands, ExpireLimit{Lease: leases[c.rng.Intn(len(leases))].ID})
	}
	if len(waits) > 0 {
		commands = append(commands, ExpireLimit{Lease: waits[0].ID})
	}
	if len(leases) > SliceMax && c.rng.Intn(2) == 0 {
		return Batch{Commands: []Command{Expire{Node: p.Node, Incarnation: p.Incarnation, Last: p.Last, TTL: 3}}}
	}
	if c.rng.Intn(4) > 0 {
		commands = commands[c.rng.Intn(len(commands)):][:1]
	}
	return Batch{Commands: commands}
}
