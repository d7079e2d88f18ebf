package main

import (
	"context"
	"fmt"
	"strings"
)

// refuse is the same with a guard at the database.
func (s *story) refuse(ctx context.Context, t task) error {
	first, err := s.stopBeforeWrite(ctx, t)
	if err != nil {
		return err
	}
	if err := s.ledger.add(ctx, t.Month, 1); err != nil {
		return err
	}
	s.tell("%s has %d orders, too. Node 1 is stopped at the same place, and one more order comes in.",
		t.Month, manyOrders)

	second, err := s.takeOver(ctx, 2, t, first)
	if err != nil {
		return err
	}
	if err := s.node(2).hear(ctx, repeated(1, 1, first), repeated(2, 2, first)); err != nil {
		return err
	}
	s.tell("When the lease had expired, node 2 got it, with a greater token.")
	s.tell("It begins with the first page. The guard knows pages 1 and 2, gives it node 1's receipts, and writes neither.")

	if err := s.node(2).hear(ctx, append([]string{wrote(3, 3, second)}, done(t.Month, second)...)...); err != nil {
		return err
	}
	whole, err := s.complete(ctx, t.Month, manyOrders+1, "1 2 3")
	if err != nil {
		return err
	}
	s.tell("It wrote page 3, with the new order. The export has all %d.", whole.orders)

	if err := s.goOn(ctx, t.Month, whole); err != nil {
		return err
	}
	s.tell("Node 1 goes on, finds its lease lost, and ends. Again it makes the write that it was about to make.")

	if err := s.node(1).order("write"); err != nil {
		return err
	}
	why, err := s.node(1).expect(ctx, "refused")
	if err != nil {
		return fmt.Errorf("the late write should be refused: %w", err)
	}
	if want := fmt.Sprintf("%s %s ", first, second); !strings.HasPrefix(why, want) {
		return fmt.Errorf("the refusal should name %s and %s, but: %s", first, second, why)
	}
	s.tell("The guard refuses it as stale, and names both tokens: node 1's, and node 2's that it has accepted.")

	if err := s.unchanged(ctx, t.Month, whole); err != nil {
		return err
	}
	s.tell("The export is as node 2 wrote it, with all %d orders.", whole.orders)
	return nil
}
