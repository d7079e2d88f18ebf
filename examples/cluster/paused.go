package main

import (
	"context"
	"fmt"
	"strings"
	"syscall"

	"github.com/palisade-go/palisade/coordinator"
)

// pauseHolder is why the file checks tokens. A process that was paused does
// not know it: what it was about to do, it does when it goes on. The order to
// write stands for that. It reaches the process while it is paused, and is
// carried out as if it had come before.
func (s *story) pauseHolder(ctx context.Context) error {
	if err := s.node(2).stop(ctx); err != nil {
		return err
	}
	s.tell("Node 2 is paused with SIGSTOP while it owns %q.", documentKey)

	if err := s.acquired(ctx, 3); err != nil {
		return err
	}
	if err := s.write(ctx, 3); err != nil {
		return err
	}
	s.tell("When its lease had expired, node 3 got the lock, with a greater token, and wrote the file.")

	if err := s.node(2).order("write what it was about to write"); err != nil {
		return err
	}
	if err := s.node(2).signal(syscall.SIGCONT); err != nil {
		return err
	}
	if _, err := s.node(2).expect(ctx, "refused"); err != nil {
		return err
	}
	s.refused++
	if err := s.unchanged(); err != nil {
		return err
	}
	s.tell("Node 2 goes on with SIGCONT, as if nothing had happened, and writes. The file refuses its token as stale.")

	why, err := s.node(2).obey(ctx, "ask", "ended")
	if err != nil {
		return err
	}
	if !strings.Contains(why, coordinator.ErrLeaseLost.Error()) {
		return fmt.Errorf("the lease of node 2 should be lost, but: %s", why)
	}
	s.tell("It asks its lease, which says that it is lost. The file has what node 3 wrote.")

	if err := s.line(ctx, 2, 3, 1); err != nil {
		return err
	}
	s.tell("It waits in line again, behind node 1.")
	return nil
}
