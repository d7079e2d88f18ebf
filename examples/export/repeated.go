package main

import (
	"context"
	"fmt"

	"github.com/palisade-go/palisade/token"
)

// repeat is about what a token can't tell: the owner of the moment may write,
// but the page is written.
func (s *story) repeat(ctx context.Context, t task) error {
	if err := s.ledger.add(ctx, t.Month, manyOrders); err != nil {
		return err
	}
	dying := t
	dying.TTL, dying.UnheardAt = shortTTL, 2
	second, err := s.give(ctx, 2, dying)
	if err != nil {
		return err
	}
	if err := s.node(2).hear(ctx, wrote(1, 1, second), "unheard 2 2"); err != nil {
		return err
	}
	if err := s.cluster.kill(s.node(2)); err != nil {
		return err
	}
	half, err := s.ledger.export(ctx, t.Month)
	if err != nil {
		return err
	}
	if half.pages != 2 || half.numbers != "1 2" {
		return fmt.Errorf("%s should have two pages, but: %v", t.Month, half)
	}
	s.tell("%s has %d orders. Node 2 wrote page 1. Page 2 is written too, but no answer tells it so.",
		t.Month, manyOrders)
	s.tell("Before one comes, it is killed with SIGKILL.")

	third, err := s.takeOver(ctx, 3, t, second)
	if err != nil {
		return err
	}
	if err := s.accepts(ctx, t.Month, third); err != nil {
		return err
	}
	s.tell("When the lease had expired, node 3 got it, with a greater token, which the guard takes for every page.")

	if err := s.node(3).hear(ctx, repeated(1, 1, second), repeated(2, 2, second)); err != nil {
		return err
	}
	s.tell("But it knows pages 1 and 2 by their operation ids. Node 3 gets node 2's receipts, and writes neither.")

	if err := s.node(3).hear(ctx, append([]string{wrote(3, 3, third)}, done(t.Month, third)...)...); err != nil {
		return err
	}
	whole, err := s.complete(ctx, t.Month, manyOrders, "1 2 3")
	if err != nil {
		return err
	}
	if int(whole.taken) != whole.pages {
		return fmt.Errorf("%d numbers are taken for %d pages", whole.taken, whole.pages)
	}
	s.tell("It wrote page 3. All %d orders are exported, and the %d pages took %d numbers: each was written once.",
		whole.orders, whole.pages, whole.taken)
	return nil
}

// accepts checks that a token is not below the fence of a month.
func (s *story) accepts(ctx context.Context, month string, t token.Token) error {
	highest, err := s.guard.Highest(ctx, resourceOf(month))
	if err != nil {
		return err
	}
	return token.Write{Resource: resourceOf(month), Token: t}.Judge(highest)
}
