package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/token"
)

// writeThroughGateway is the same again, with somebody who looks at the token.
func (s *story) writeThroughGateway(ctx context.Context) error {
	if err := s.openDoor(); err != nil {
		return err
	}
	ada, err := s.hire(ctx, coordinator.WithMaxHold(holdMax))
	if err != nil {
		return err
	}
	s.late = ada
	if _, receipt, err := ada.send(ctx, s.door.url, request{method: http.MethodPut, text: "draft of Ada"}); err != nil {
		return err
	} else if receipt.Token != ada.lease.Token() {
		return fmt.Errorf("the gateway let Ada through with token %s, not with %s", receipt.Token, ada.lease.Token())
	}
	late, err := ada.sendLate(ctx, s.door.url, request{method: http.MethodPut, text: "draft of Ada, continued"})
	if err != nil {
		return err
	}
	s.tell("A gateway stands before the service. Ada owns the lock and wrote. Her next write is held up.")

	if err := ada.loss(ctx); err != nil {
		return err
	}
	ben, err := s.hire(ctx)
	if err != nil {
		return err
	}
	s.last = ben
	text, _, err := ben.send(ctx, s.door.url, request{method: http.MethodGet})
	if err != nil {
		return err
	}
	if text != "draft of Ada" {
		return fmt.Errorf("the next owner should read what was written in time, but reads %q", text)
	}
	s.tell("Ada's lease is over. Ben got the lock and read what she wrote in time, with his token.")

	if err := s.refused(late.arrive(ctx), ada, ben); err != nil {
		return err
	}
	if err := s.has("draft of Ada"); err != nil {
		return err
	}
	s.tell("Ada's write arrives: 412, stale. The service has not seen it. To read was enough to shut her out.")

	if _, _, err := ada.send(ctx, s.door.url, request{method: http.MethodGet}); !errors.Is(err, coordinator.ErrLeaseLost) {
		return fmt.Errorf("a transport whose lease is lost should send nothing, but: %v", err)
	}
	s.tell("She asks for the document. Her transport knows that the lease is lost, and sends nothing.")

	if _, _, err := ben.send(ctx, s.door.url, request{method: http.MethodPut, text: text + ", edited by Ben"}); err != nil {
		return err
	}
	if err := s.has("draft of Ada, edited by Ben"); err != nil {
		return err
	}
	s.tell("Ben wrote what he made of it.")
	return nil
}

// refused checks that a late write was refused because of its token, with both
// tokens named.
func (s *story) refused(err error, late, owner *worker) error {
	var stale *token.StaleError
	if err == nil {
		return fmt.Errorf("the late write with token %s was accepted, the document reads %q", late.lease.Token(), s.service.text())
	}
	if !errors.As(err, &stale) {
		return fmt.Errorf("the late write should be stale, but: %w", err)
	}
	want := token.StaleError{Resource: documentPath, Given: late.lease.Token(), Highest: owner.lease.Token()}
	if *stale != want {
		return fmt.Errorf("the refusal should be %q, but is %q", &want, stale)
	}
	return nil
}
