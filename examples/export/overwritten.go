package main

import (
	"context"
	"fmt"
)

// overwrite is what happens to those who trust their lock alone.
func (s *story) overwrite(ctx context.Context, t task) error {
	first, err := s.stopBeforeWrite(ctx, t)
	if err != nil {
		return err
	}
	s.tell("%s has %d orders. Node 1 owns its lease, wrote two pages of %d orders, and made the third.",
		t.Month, manyOrders, ordersMax)
	s.tell("Before it writes that one, it is stopped with SIGSTOP. One more order comes in.")

	if err := s.ledger.add(ctx, t.Month, 1); err != nil {
		return err
	}
	second, err := s.takeOver(ctx, 2, t, first)
	if err != nil {
		return err
	}
	lines := append([]string{wrote(1, 3, second), wrote(2, 4, second), wrote(3, 5, second)}, done(t.Month, second)...)
	if err := s.node(2).hear(ctx, lines...); err != nil {
		return err
	}
	whole, err := s.complete(ctx, t.Month, manyOrders+1, "3 4 5")
	if err != nil {
		return err
	}
	s.tell("When the lease had expired, node 2 got it, with a greater token, and wrote the pages of all %d orders.",
		whole.orders)

	if err := s.goOn(ctx, t.Month, whole); err != nil {
		return err
	}
	s.tell("Node 1 goes on with SIGCONT. It looks at its lease, which is lost by its own clock, and ends.")

	if err := s.node(1).order("write"); err != nil {
		return err
	}
	if err := s.node(1).hear(ctx, wrote(3, 6, first)); err != nil {
		return fmt.Errorf("the late write should be taken: %w", err)
	}
	s.tell("But it could have been stopped just after that look. So it now makes the write that it was about to make.")

	late, err := s.ledger.export(ctx, t.Month)
	if err != nil {
		return err
	}
	lost := late.ordered.orders == manyOrders+1 && late.orders == manyOrders && len(late.missing) == 1
	if !lost || late.missing[0] != whole.last {
		return fmt.Errorf("order %d should be lost from %s, but: %v", whole.last, t.Month, late)
	}
	s.tell("The database takes it. The export is the one of %d orders again: the last order has no invoice.",
		late.orders)
	s.tell("Nobody has seen an error.")
	return nil
}
