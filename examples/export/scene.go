package main

import (
	"context"
	"fmt"
	"syscall"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/token"
)

// manyOrders is how many orders a month begins with: two full pages and a half.
const manyOrders = 2*ordersMax + ordersMax/2

// give gives a node a task, and returns the token under which it does it.
func (s *story) give(ctx context.Context, id coordinator.NodeID, t task) (token.Token, error) {
	order, err := t.line()
	if err != nil {
		return 0, err
	}
	if err := s.node(id).order(order); err != nil {
		return 0, err
	}
	text, err := s.node(id).expect(ctx, "acquired")
	if err != nil {
		return 0, err
	}
	return token.Parse(text)
}

// stopBeforeWrite has node 1 export a month of manyOrders, and stops it after
// it has written two pages and made the third. It returns its token.
func (s *story) stopBeforeWrite(ctx context.Context, t task) (token.Token, error) {
	if err := s.ledger.add(ctx, t.Month, manyOrders); err != nil {
		return 0, err
	}
	t.TTL, t.StopAt = shortTTL, 3
	first, err := s.give(ctx, 1, t)
	if err != nil {
		return 0, err
	}
	if err := s.node(1).hear(ctx, wrote(1, 1, first), wrote(2, 2, first), "waiting 3"); err != nil {
		return 0, err
	}
	return first, s.node(1).stop(ctx)
}

// takeOver has a node export a month after another one that could not end it.
// It returns its token, which is greater.
func (s *story) takeOver(
	ctx context.Context, id coordinator.NodeID, t task, before token.Token,
) (token.Token, error) {
	t.TTL = longTTL
	next, err := s.give(ctx, id, t)
	if err == nil && next <= before {
		err = fmt.Errorf("node %d got token %s after %s", id, next, before)
	}
	return next, err
}

// goOn lets node 1 go on, and checks that it finds its lease lost and writes
// nothing.
func (s *story) goOn(ctx context.Context, month string, before export) error {
	if err := s.node(1).order("go"); err != nil {
		return err
	}
	if err := s.node(1).signal(syscall.SIGCONT); err != nil {
		return err
	}
	if _, err := s.node(1).expect(ctx, "lost"); err != nil {
		return err
	}
	return s.unchanged(ctx, month, before)
}

// wrote is what a node says of a page that it wrote: the step, the number that
// the page got, and the token.
func wrote(step int, n number, t token.Token) string {
	return fmt.Sprintf("wrote %d %d %s", step, n, t)
}

// repeated is what a node says of a page that was written before, under a token
// of then.
func repeated(step int, n number, t token.Token) string {
	return fmt.Sprintf("repeated %d %d %s", step, n, t)
}

// done are the last lines of an export.
func done(month string, t token.Token) []string {
	return []string{"exported " + month, "released " + t.String()}
}

// complete checks that a month has so many orders, all of them exported, and
// that its pages have these numbers. It returns what the database has.
func (s *story) complete(ctx context.Context, month string, orders int, numbers string) (export, error) {
	e, err := s.ledger.export(ctx, month)
	if err == nil && (!e.complete() || e.orders != orders || e.numbers != numbers) {
		err = fmt.Errorf("%s should have %d orders, all of them exported, on pages with the numbers %s, but it has: %v",
			month, orders, numbers, e)
	}
	return e, err
}

// unchanged checks that the database has of a month what it had before.
func (s *story) unchanged(ctx context.Context, month string, before export) error {
	now, err := s.ledger.export(ctx, month)
	if err == nil && !now.equal(before) {
		err = fmt.Errorf("%s should be as it was, %v, but it is %v", month, before, now)
	}
	return err
}
