package main

import "context"

// stopAll ends what still runs.
func (s *story) stopAll(ctx context.Context, _ task) error {
	if err := s.cluster.stop(1, 3); err != nil {
		return err
	}
	if err := s.cluster.ended(ctx, 1, 3); err != nil {
		return err
	}
	s.tell("Nodes 1 and 3 were told to stop, with SIGTERM, and ended with status 0.")
	return nil
}
