package torture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/palisade-go/palisade/coordinator/locktest/history"
	"github.com/palisade-go/palisade/token"
)

// crew is the workers of a node, and the journal that they write.
type crew struct {
	node    *Node
	workers []*worker
	leaving atomic.Bool // the node is being shut down
	life    context.Context
	end     context.CancelFunc
	running sync.WaitGroup
	current *page
	goOn    chan struct{} // closed when those who wait for it may go on
}

// page is what a crew has of a generation.
type page struct {
	generation int
	keys       keys
	file       *os.File
	recorder   *history.Recorder
}

// keys are those of a generation.
type keys struct {
	byGroup  []string   // one of each group
	families [][]string // those that are taken together; others never are
}

// order is what a worker is told. It answers on done, which has room for that.
type order struct {
	what string
	page *page         // of a turn
	goOn chan struct{} // of a progress and a poise
	done chan answer
}

// answer is what a worker has to say of an order.
type answer struct {
	err     error
	slowest Turnabout
	poised  Poised
}

// Turnabout is how long a worker needed to own a key.
type Turnabout struct {
	Node, Worker, Group int
	Took                time.Duration
}

// Poised is the lease of a worker that will write without asking it.
type Poised struct {
	Resource string
	Token    token.Token
}

func (n *Node) newCrew(o WorkOrder) (*crew, error) {
	c := &crew{node: n}
	c.life, c.end = context.WithCancel(context.Background())
	page, err := c.open(o.Generation)
	if err != nil {
		return nil, err
	}
	c.current = page
	for i := range o.Workers {
		w := &worker{
			crew: c, number: i + 1, orders: make(chan order, 4), page: page, client: page.recorder.Client(n.node),
			random: rand.New(rand.NewPCG(o.Seed, uint64(n.number)<<32|n.node.Status().Incarnation<<8|uint64(i))),
		}
		c.workers = append(c.workers, w)
		c.running.Add(1)
		go func() {
			defer c.running.Done()
			w.run()
		}()
	}
	return c, nil
}

// open begins the journal of a generation.
func (c *crew) open(generation int) (*page, error) {
	n := c.node
	incarnation := n.node.Status().Incarnation
	name := journalName(n.start.Journals, generation, n.number, incarnation)
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	who := fmt.Sprintf("node %d, incarnation %d, ", n.number, incarnation)
	return &page{generation, n.keysOf(generation), file, history.NewJournal(file, who)}, nil
}

func journalName(dir string, generation, node int, incarnation uint64) string {
	return filepath.Join(dir, fmt.Sprintf("journal-%d-%d-%d.jsonl", generation, node, incarnation))
}

func (p *page) close() error { return errors.Join(p.recorder.Err(), p.file.Close()) }

// keysOf returns the keys of a generation, the same on all nodes. The first two
// families have a second key of a group that they have one of already.
func (n *Node) keysOf(generation int) keys {
	var k keys
	for group := 1; group <= n.start.Groups; group++ {
		for i := 0; ; i++ {
			key := fmt.Sprintf("{%d.%d}", generation, i)
			if n.controls.Group(key) == group {
				k.byGroup = append(k.byGroup, key)
				break
			}
		}
	}
	for i := 0; i+1 < len(k.byGroup); i += 2 {
		family := []string{k.byGroup[i], k.byGroup[i+1]}
		if i < 4 {
			family = append(family, k.byGroup[i]+" too")
		}
		k.families = append(k.families, family)
	}
	return k
}

// tell gives workers an order each, and waits for their answers.
func (c *crew) tell(workers []*worker, o order) ([]answer, error) {
	done := make(chan answer, len(workers))
	o.done = done
	for _, w := range workers {
		w.orders <- o
		w.interrupt()
	}
	var answers []answer
	var problems []error
	for range workers {
		a := <-done
		answers = append(answers, a)
		problems = append(problems, a.err)
	}
	return answers, errors.Join(problems...)
}

func (c *crew) turn(generation int) error {
	next, err := c.open(generation)
	if err != nil {
		return err
	}
	before := c.current
	c.current = next
	if _, err := c.tell(c.workers, order{what: toTurn, page: next}); err != nil {
		return err
	}
	return before.close()
}

func (c *crew) progress(slowest *Turnabout) error {
	c.goOn = make(chan struct{})
	answers, err := c.tell(c.workers, order{what: toProgress, goOn: c.goOn})
	for _, a := range answers {
		if a.slowest.Took > slowest.Took {
			*slowest = a.slowest
		}
	}
	return err
}

func (c *crew) poise(n int, all *[]Poised) error {
	c.goOn = make(chan struct{})
	answers, err := c.tell(c.workers[:n], order{what: toPoise, goOn: c.goOn})
	for _, a := range answers {
		*all = append(*all, a.poised)
	}
	return err
}

// stop ends all workers, whatever they are doing, and the journal.
func (c *crew) stop() error {
	c.end()
	c.running.Wait()
	return c.current.close()
}
