package sim

import (
	"slices"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/hub"
	"github.com/palisade-go/palisade/statemachine"
)

// client is a goroutine of the program: it asks for some keys, group by group
// in rising order, holds them for a while when it has all, and gives
// everything back, at the latest when it fails to get one or loses one.
type client struct {
	n      *node
	number int
	random stream

	round  int // tells what was planned for an earlier one
	want   []want
	calls  []*call       // of the groups that were asked
	has    int           // how many of them were granted
	holdOn time.Duration // once it has all
	backs  bool          // it gives back what it has
	closed bool          // its process has ended
}

// want is what a client asks one group for.
type want struct {
	replica *replica
	ask     hub.Ask
}

func newClient(n *node, number int) *client {
	return &client{n: n, number: number, random: newStream(n.w.seed, "client", number, n.incarnation)}
}

// think pauses, and begins another round.
func (c *client) think() {
	c.n.timer(c.random.within(c.n.w.setting.think), func() {
		switch {
		case c.n.w.quiet || c.closed:
		case c.random.chance(7):
			c.mark()
		default:
			c.begin()
		}
	})
}

func (c *client) begin() {
	c.round++
	holdOn := c.random.within(c.n.w.setting.hold)
	if c.random.chance(5) {
		holdOn = c.random.between(0, longest)
	}
	c.ask(c.draw(), holdOn)
	if c.random.chance(60) {
		c.later(c.random.between(0, c.n.w.setting.patience), func() {
			if c.has < len(c.want) {
				c.back()
			}
		})
	}
}

// ask asks for the first part, and for the others when it has that.
func (c *client) ask(all []want, holdOn time.Duration) {
	c.want, c.holdOn, c.calls, c.has, c.backs = all, holdOn, nil, 0, false
	c.askNext()
}

// later plans something for this round.
func (c *client) later(d time.Duration, do func()) {
	round := c.round
	c.n.timer(d, func() {
		if c.round == round && !c.closed {
			do()
		}
	})
}

// draw decides what to ask for: mostly one key of one group, now and then two
// of them, or one of each of several groups.
func (c *client) draw() []want {
	r := c.random
	ask := hub.Ask{Wait: r.chance(80), TTL: ttlShort}
	if r.chance(50) {
		ask.TTL = ttlLong
	}
	if r.chance(30) {
		ask.Limit = limitShort
		if r.chance(50) {
			ask.Limit = limitLong
		}
	}
	if r.chance(20) {
		ask.QueueMax = 2
	}
	if len(c.n.replicas) == 1 || r.chance(70) {
		replica := c.n.replicas[r.IntN(len(c.n.replicas))]
		ask.Claims = replica.g.claims(r, 1+r.IntN(10)/7)
		return []want{{replica, ask}}
	}
	var all []want
	for _, replica := range c.n.replicas { // by rising group
		if len(all) == 0 || r.chance(60) {
			ask.Claims = replica.g.claims(r, 1)
			all = append(all, want{replica, ask})
		}
	}
	return all
}

// claims draws some keys of the group, at most two.
func (g *group) claims(r stream, n int) []statemachine.Claim {
	first := r.IntN(len(g.keys))
	places := []int{first}
	if n > 1 {
		places = append(places, (first+1+r.IntN(len(g.keys)-1))%len(g.keys))
	}
	slices.Sort(places)
	var claims []statemachine.Claim
	for _, p := range places {
		claims = append(claims, statemachine.Claim{Key: g.keys[p], Mode: statemachine.Exclusive})
	}
	return claims
}

// askNext asks the next group.
func (c *client) askNext() {
	next := c.want[len(c.calls)]
	c.calls = append(c.calls, newCall(c, next.replica.shell, next.ask))
}

// gets is told when a group has granted its part.
func (c *client) gets() {
	c.has++
	switch {
	case c.backs:
	case c.has < len(c.want):
		c.askNext()
	default:
		w := c.n.w
		if len(c.want) > 1 {
			w.count["sets held"]++
		}
		c.later(c.holdOn, c.back)
	}
}

// fails is told when a group gives nothing.
func (c *client) fails() {
	if len(c.calls) > 1 {
		c.n.w.count["rolled back"]++
	}
	c.back()
}

// loses is told when a part was lost. The rest stays held while the caller
// unwinds.
func (c *client) loses() { c.later(c.random.between(0, 300*time.Millisecond), c.back) }

// back gives back what it has, and what it has asked for.
func (c *client) back() {
	c.backs = true
	for _, one := range c.calls {
		one.giveBack()
	}
}

// settles is told when a group has nothing left of a call.
func (c *client) settles() {
	if !c.backs {
		c.fails() // it was refused, or it ended by itself
	}
	if !c.busy() {
		c.round++
		c.think()
	}
}

// busy says that some group has something of it.
func (c *client) busy() bool {
	return slices.ContainsFunc(c.calls, func(one *call) bool { return !one.final() })
}

// close ends the goroutine with its process.
func (c *client) close() {
	c.closed = true
	for _, one := range c.calls {
		one.close()
	}
}

// calm has one who holds end its hold before long.
func (c *client) calm() {
	if c.has == len(c.want) && c.busy() && !c.backs {
		c.later(c.random.within(c.n.w.setting.hold), c.back)
	}
}
