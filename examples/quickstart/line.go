package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/token"
)

// contender is one who wants the lock, and where.
type contender struct {
	name string
	node coordinator.NodeID
}

// standInLine shows the queue of a key: first come, first served, whichever
// node somebody asks on.
func (s *story) standInLine(ctx context.Context) error {
	lease, err := s.cluster.node(1).Acquire(ctx, documentKey, coordinator.WithMetadata("edition of the day"))
	if err != nil {
		return err
	}
	if err := s.tryTaken(ctx); err != nil {
		return err
	}
	s.tell("While node 1 owns %q, a try on node 2 is refused and told who has it.", documentKey)

	line := []contender{{"Ada", 2}, {"Ben", 3}, {"Cleo", 2}, {"Dan", 1}}
	counter := &counter{}
	ended := make(chan error, len(line))
	for i, c := range line {
		go func() { ended <- s.serve(ctx, c, counter) }()
		// The order of a line is the order of arrival in the group's log.
		// Whoever wants a certain one has to see that each has arrived.
		if err := s.waitLine(ctx, line[:i+1]); err != nil {
			return err
		}
	}
	s.tell("Ada, Ben, Cleo and Dan stand in line, on all three nodes.")

	if err := lease.Release(ctx); err != nil {
		return err
	}
	for range line {
		err, gaveUp := await(ctx, "the contenders", ended)
		if err := errors.Join(err, gaveUp); err != nil {
			return err
		}
	}
	if err := counter.check(lease.Token(), line); err != nil {
		return err
	}
	s.tell("Node 1 released, and they were served in that order, one at a time.")
	s.tell("Each got a greater token than the one before.")
	return nil
}

// tryTaken asks for the key that node 1 owns, without waiting for it.
func (s *story) tryTaken(ctx context.Context) error {
	return waitUntil(ctx, "a try is answered", func() (bool, error) {
		_, err := s.cluster.node(2).TryAcquire(ctx, documentKey)
		var busy *coordinator.BusyError
		switch {
		case err == nil:
			return false, errors.New("a try got the key although node 1 owns it")
		case !errors.As(err, &busy):
			return false, err
		case len(busy.Holders) != 1 || busy.Holders[0].Node != 1 || busy.Holders[0].Metadata != "edition of the day":
			return false, fmt.Errorf("a try was told of the wrong holder: %v", busy.Holders)
		}
		return true, nil
	})
}

// waitLine waits until exactly these stand in line.
func (s *story) waitLine(ctx context.Context, line []contender) error {
	return waitUntil(ctx, line[len(line)-1].name+" stands in line", func() (bool, error) {
		info, err := s.cluster.node(3).Inspect(ctx, documentKey)
		if err != nil {
			return false, err
		}
		return slices.EqualFunc(info.Waiters, line, func(w coordinator.Waiter, c contender) bool {
			return w.Node == c.node && w.Metadata == c.name
		}), nil
	})
}

// serve waits for a contender's turn and lets it write. Do gives the lock
// back when the function has returned, whatever it did.
func (s *story) serve(ctx context.Context, c contender, at *counter) error {
	err := s.cluster.node(c.node).Do(ctx, documentKey, func(ctx context.Context, lease *coordinator.Lease) error {
		at.enter(c, lease.Token())
		defer at.leave()
		return s.document.write(lease.Token(), "edition of "+c.name)
	}, coordinator.WithMetadata(c.name))
	if err != nil {
		return fmt.Errorf("%s on node %d: %w", c.name, c.node, err)
	}
	return nil
}

// counter is where the contenders are served. It notes who came with which
// token, and whether two were there at once.
type counter struct {
	mu      sync.Mutex
	inside  int
	crowded bool
	served  []contender
	tokens  []token.Token
}

func (n *counter) enter(c contender, t token.Token) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.inside++
	n.crowded = n.crowded || n.inside > 1
	n.served = append(n.served, c)
	n.tokens = append(n.tokens, t)
}

func (n *counter) leave() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.inside--
}

// check compares what was noted with the line, and the tokens with the one
// that was there before.
func (n *counter) check(before token.Token, line []contender) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.crowded {
		return errors.New("two owned the key at once")
	}
	if !slices.Equal(n.served, line) {
		return fmt.Errorf("the line was %s, but served were %s", names(line), names(n.served))
	}
	for i, t := range n.tokens {
		if t <= before {
			return fmt.Errorf("%s got token %s after a grant with %s", line[i].name, t, before)
		}
		before = t
	}
	return nil
}

func names(line []contender) string {
	list := make([]string, len(line))
	for i, c := range line {
		list[i] = c.name
	}
	return strings.Join(list, ", ")
}
