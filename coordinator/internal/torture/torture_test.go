package torture

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/internal/porttest"
)

var (
	runTime = flag.Duration("time", 0, "for how long to draw faults; 0: a fixed plan of each of them")
	runSeed = flag.Uint64("seed", 0, "draws the plan; 0: a new one")
	runTTL  = flag.Duration("ttl", 4*time.Second, "the TTL; the election timeout is a quarter of it")
)

// reportEvery is how often a long run says how it stands.
const reportEvery = 5 * time.Minute

// A cluster of processes works while everything that can be broken from outside
// is broken, and what the clients saw keeps the contract.
func TestTorture(t *testing.T) {
	seed := *runSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("replay: go test ./coordinator/internal/torture -v -run TestTorture -seed %d -time %v -ttl %v -timeout 0", seed, *runTime, *runTTL)
	dir, err := os.MkdirTemp("", "torture-")
	require.NoError(t, err)
	t.Logf("logs, journals and events are in %s until the end, and stay there after a failure", dir)
	events, err := os.Create(filepath.Join(dir, "events.log"))
	require.NoError(t, err)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s := settings{
		Nodes: 3, Groups: 8, Workers: 4, TTL: *runTTL, Election: *runTTL / 4, SnapshotEntries: 150, Limit: 2 * time.Minute,
	}
	f, err := newFleet(s, dir, porttest.Take(t, s.Nodes), certify(t, dir, s.Nodes), newTally(events))
	require.NoError(t, err)
	n := &nemesis{
		fleet: f, ctx: ctx, random: rand.New(rand.NewPCG(seed, 0)), stopped: map[int]bool{}, hasty: *runTime == 0,
	}
	p := newPlan(n, *runTime, append(slices.Clone(processFaults), n.diskFaults()...), linkFaults)
	err = n.run(p, t.Logf)
	err = errors.Join(err, f.close(err != nil), events.Close())
	t.Logf("\n%s", f.tally.report(f.register, seed, s))
	require.NoError(t, err, "everything is kept in %s", dir)
	if *runTime == 0 && ctx.Err() == nil {
		require.Empty(t, names(p.missing(n)), "faults that nobody noticed")
	}
	require.NoError(t, os.RemoveAll(dir))
}

// run breaks and heals until the plan has nothing more.
func (n *nemesis) run(p *plan, say func(string, ...any)) error {
	if err := n.begin(); err != nil {
		return err
	}
	if err := n.measureAll(); err != nil {
		return err
	}
	reported := time.Now()
	checked := make(chan error, 1)
	checked <- nil
	for n.ctx.Err() == nil {
		kinds := p.next(n)
		if kinds == nil {
			break
		}
		if err := n.series(kinds...); err != nil {
			return errors.Join(err, <-checked)
		}
		// What is over is checked while the next faults are made.
		if err := <-checked; err != nil {
			return err
		}
		over, err := n.turn()
		if err != nil {
			return err
		}
		go func() { checked <- n.checkGeneration(over) }()
		if time.Since(reported) > reportEvery {
			reported = time.Now()
			if err := n.measureAll(); err != nil {
				return err
			}
			say("%s", n.tally.line(n.register))
		}
	}
	if err := <-checked; err != nil {
		return err
	}
	return n.finish()
}

// finish ends the work, compares the nodes and stops them in good order.
func (n *nemesis) finish() error {
	if err := n.measureAll(); err != nil {
		return err
	}
	if err := n.rest(); err != nil {
		return err
	}
	if err := n.look(); err != nil {
		return err
	}
	if err := n.checkGeneration(n.generation); err != nil {
		return err
	}
	for _, node := range n.members() {
		if err := n.shutdown(node); err != nil {
			return err
		}
	}
	return errors.Join(n.wrong(), n.races())
}

func (n *nemesis) measureAll() error {
	if err := n.look(); err != nil {
		return err
	}
	for _, node := range n.members() {
		u, err := n.measure(node)
		if err != nil {
			return fmt.Errorf("measure node %d: %w", node, err)
		}
		n.tally.used(node, u)
	}
	return nil
}
