package dashboard

import (
	"fmt"
	"math"
	"slices"
)

// The size of the drawing of who waits for whom.
const (
	graphWidth, graphHeight = 520.0, 300.0
	nodeRadius              = 24.0
	graphMargin             = 64.0
)

// graph is a drawing: nodes on an ellipse, and arrows from who waits to who holds.
type graph struct {
	Width, Height float64
	Nodes         []graphNode
	Arrows        []graphArrow
}

type graphNode struct {
	ID   uint64
	X, Y string
}

type graphArrow struct {
	Path  string
	Width string
	X, Y  string // of the label
	Label string
	Title string
}

// newGraph draws the edges between the nodes of the cluster.
func newGraph(v View) graph {
	ids := []uint64{v.Node.ID}
	for _, p := range v.Peers {
		ids = append(ids, p.ID)
	}
	for _, e := range v.WaitsFor {
		ids = append(ids, e.Waiter, e.Holder)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	g := graph{Width: graphWidth, Height: graphHeight}
	at := map[uint64]point{}
	for i, id := range ids {
		angle := 2*math.Pi*float64(i)/float64(len(ids)) - math.Pi/2
		at[id] = point{
			graphWidth/2 + (graphWidth/2-graphMargin-nodeRadius)*math.Cos(angle),
			graphHeight/2 + (graphHeight/2-graphMargin)*math.Sin(angle),
		}
		g.Nodes = append(g.Nodes, graphNode{id, number1(at[id].x), number1(at[id].y)})
	}
	most := 1
	for _, e := range v.WaitsFor {
		most = max(most, e.Requests)
	}
	for _, e := range v.WaitsFor {
		a := graphArrow{
			Label: fmt.Sprint(e.Requests), Width: number1(1.5 + 3*math.Sqrt(float64(e.Requests)/float64(most))),
			Title: fmt.Sprintf("%d requests of node %d wait for node %d", e.Requests, e.Waiter, e.Holder),
		}
		if e.Waiter == e.Holder {
			a.loop(at[e.Waiter])
		} else {
			a.bow(at[e.Waiter], at[e.Holder])
		}
		g.Arrows = append(g.Arrows, a)
	}
	return g
}

type point struct{ x, y float64 }

// bow goes from the rim of a node to that of another, bent to one side, so that two
// that go to and fro can be told apart.
func (a *graphArrow) bow(from, to point) {
	dx, dy := to.x-from.x, to.y-from.y
	length := math.Hypot(dx, dy)
	ux, uy := dx/length, dy/length
	const bend = 26.0
	middle := point{(from.x+to.x)/2 - uy*bend*2, (from.y+to.y)/2 + ux*bend*2}
	start, end := toward(from, middle, nodeRadius), toward(to, middle, nodeRadius+7)
	a.Path = fmt.Sprintf("M%s %s Q%s %s %s %s", number1(start.x), number1(start.y), number1(middle.x), number1(middle.y), number1(end.x), number1(end.y))
	a.X, a.Y = number1((from.x+to.x)/2-uy*(bend+12)), number1((from.y+to.y)/2+ux*(bend+12)+4)
}

// loop goes from a node to itself, away from the middle of the drawing.
func (a *graphArrow) loop(at point) {
	dx, dy := at.x-graphWidth/2, at.y-graphHeight/2
	length := math.Hypot(dx, dy)
	if length == 0 {
		dx, dy, length = 0, -1, 1
	}
	angle := math.Atan2(dy/length, dx/length)
	rim := func(by, radius float64) point {
		return point{at.x + radius*math.Cos(angle+by), at.y + radius*math.Sin(angle+by)}
	}
	start, end := rim(-0.6, nodeRadius), rim(0.6, nodeRadius+7)
	one, two := rim(-0.75, nodeRadius+44), rim(0.75, nodeRadius+44)
	a.Path = fmt.Sprintf("M%s %s C%s %s %s %s %s %s", number1(start.x), number1(start.y), number1(one.x), number1(one.y),
		number1(two.x), number1(two.y), number1(end.x), number1(end.y))
	label := rim(0, nodeRadius+24)
	a.X, a.Y = number1(label.x), number1(label.y+4)
}

// toward returns the point at a distance from one in the direction of another.
func toward(from, to point, distance float64) point {
	length := math.Hypot(to.x-from.x, to.y-from.y)
	return point{from.x + (to.x-from.x)/length*distance, from.y + (to.y-from.y)/length*distance}
}

func number1(f float64) string { return fmt.Sprintf("%.1f", f) }
