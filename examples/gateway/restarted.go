package main

import (
	"context"
	"errors"
	"net/http"
)

// restart is why the gateway's memory is on disk.
func (s *story) restart(ctx context.Context) error {
	if err := s.closeDoor(); err != nil {
		return err
	}
	if err := s.openDoor(); err != nil {
		return err
	}
	s.tell("The gateway was stopped, and started again from its directory.")

	again := s.late.sendCopy(ctx, s.door.url, request{method: http.MethodPut, text: "draft of Ada, continued"})
	if err := s.refused(again, s.late, s.last); err != nil {
		return err
	}
	if err := s.has(signed); err != nil {
		return err
	}
	s.tell("A proxy on the way has kept a copy of Ada's write, and sends it again: still 412, stale.")

	if err := s.repeated(ctx); err != nil {
		return err
	}
	s.tell("Ben tries his operation once more: still the first answer, and the line is there once.")
	return errors.Join(s.late.dismiss(ctx), s.last.dismiss(ctx))
}
