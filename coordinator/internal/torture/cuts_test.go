package torture

import "time"

// linkFaults are those of the links between the nodes.
var linkFaults = []faultKind{
	{name: "cut one way", begin: (*nemesis).cutOneWay},
	{name: "cut both ways", begin: (*nemesis).cutBothWays},
	{name: "isolate a node", begin: (*nemesis).isolate},
	{name: "lose the answers to a node", begin: (*nemesis).loseAnswers},
	{name: "swallow what a node says and hears", begin: (*nemesis).swallow},
	{name: "reset connections", begin: (*nemesis).reset},
	{name: "slow links", begin: (*nemesis).slow},
	{name: "links that come and go", begin: (*nemesis).flap},
}

// linksWhere returns some links.
func (n *nemesis) linksWhere(match func(from, to int) bool) []*link {
	var some []*link
	for _, l := range n.links {
		if match(l.from, l.to) {
			some = append(some, l)
		}
	}
	return some
}

// anyNode draws a node, running or not.
func (n *nemesis) anyNode() int { return 1 + n.random.IntN(n.Nodes) }

// anyPair draws two nodes.
func (n *nemesis) anyPair() (a, b int) {
	some := n.random.Perm(n.Nodes)
	return some[0] + 1, some[1] + 1
}

// spoil changes links until they are healed. That something had to wait, was lost or
// was reset meanwhile shows that this was felt.
func (n *nemesis) spoil(links []*link, there, back mode) (fault, error) {
	before := total(links)
	for _, l := range links {
		l.set(there, back)
	}
	return fault{
		heal: func() error {
			for _, l := range links {
				l.heal()
			}
			return nil
		},
		felt: func() bool { return total(links) > before },
	}, nil
}

func total(links []*link) int {
	sum := 0
	for _, l := range links {
		sum += l.counted().total()
	}
	return sum
}

func of(node int) func(from, to int) bool {
	return func(from, to int) bool { return from == node || to == node }
}

func (n *nemesis) cutOneWay() (fault, error) {
	a, b := n.anyPair()
	return n.spoil(n.linksWhere(func(from, to int) bool { return from == a && to == b }), mode{kind: stalls}, mode{kind: stalls})
}

func (n *nemesis) cutBothWays() (fault, error) {
	a, b := n.anyPair()
	return n.spoil(n.linksWhere(func(from, to int) bool { return of(a)(from, to) && of(b)(from, to) }), mode{kind: stalls}, mode{kind: stalls})
}

func (n *nemesis) isolate() (fault, error) {
	return n.spoil(n.linksWhere(of(n.anyNode())), mode{kind: stalls}, mode{kind: stalls})
}

// loseAnswers lets a node speak, and keeps from it what is answered on the
// connections that it made.
func (n *nemesis) loseAnswers() (fault, error) {
	node := n.anyNode()
	links := n.linksWhere(func(from, _ int) bool { return from == node })
	f, err := n.spoil(links, mode{kind: passes}, mode{kind: stalls})
	// Only what makes a new connection needs an answer.
	for _, l := range links {
		l.breakAll()
	}
	return f, err
}

func (n *nemesis) swallow() (fault, error) {
	return n.spoil(n.linksWhere(of(n.anyNode())), mode{kind: swallows}, mode{kind: swallows})
}

func (n *nemesis) reset() (fault, error) {
	return n.spoil(n.linksWhere(of(n.anyNode())), mode{kind: resets}, mode{kind: resets})
}

// slow delays each piece on all links, by less than an election timeout.
func (n *nemesis) slow() (fault, error) {
	delay := func() mode {
		return mode{kind: isSlow, delay: time.Millisecond + time.Duration(n.random.Int64N(int64(n.Election/4)))}
	}
	return n.spoil(n.links, delay(), delay())
}

// flap cuts the links of a node again and again, for moments.
func (n *nemesis) flap() (fault, error) {
	links := n.linksWhere(of(n.anyNode()))
	before := total(links)
	for range 3 + n.random.IntN(5) {
		kind := stalls
		if n.random.IntN(2) == 0 {
			kind = resets
		}
		for _, l := range links {
			l.set(mode{kind: kind}, mode{kind: kind})
		}
		n.hold(n.between(0.01, 0.1))
		for _, l := range links {
			l.heal()
		}
		n.hold(n.between(0.01, 0.1))
	}
	return fault{felt: func() bool { return total(links) > before }}, nil
}
