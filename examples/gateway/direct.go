package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/token/httpfence"
)

// writeDirectly is what a lock alone can't prevent.
func (s *story) writeDirectly(ctx context.Context) error {
	ada, err := s.hire(ctx, coordinator.WithMaxHold(holdMax))
	if err != nil {
		return err
	}
	late, err := ada.sendLate(ctx, s.service.url, request{method: http.MethodPut, text: "draft of Ada"})
	if err != nil {
		return err
	}
	s.tell("Ada owns the lock and sends a write. It is held up on its way.")

	if err := ada.loss(ctx); err != nil {
		return err
	}
	ben, err := s.hire(ctx)
	if err != nil {
		return err
	}
	_, _, err = ben.send(ctx, s.service.url, request{method: http.MethodPut, text: "edition of Ben"})
	if !errors.Is(err, httpfence.ErrNoGuard) {
		return fmt.Errorf("the service should answer, and as one without a guard, but: %v", err)
	}
	if err := s.has("edition of Ben"); err != nil {
		return err
	}
	s.tell("Ada's lease is over. Ben got the lock and wrote.")

	if err := late.arrive(ctx); !errors.Is(err, httpfence.ErrNoGuard) {
		return fmt.Errorf("the late write should be answered, and by no guard, but: %v", err)
	}
	if err := s.has("draft of Ada"); err != nil {
		return err
	}
	s.tell("Ada's write arrives. The service takes it: what Ben wrote is lost, and nobody is told.")
	return errors.Join(ada.dismiss(ctx), ben.dismiss(ctx))
}
