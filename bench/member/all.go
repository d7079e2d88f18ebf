package member

import (
	"errors"
	"syscall"
)

// Pids returns the ids of some processes.
func Pids(list []*Process) []int {
	var pids []int
	for _, p := range list {
		pids = append(pids, p.Pid())
	}
	return pids
}

// StopAll stops processes at once and waits for all of them. Those that are nil
// were never started.
func StopAll(list []*Process, signal syscall.Signal) error {
	errs := make(chan error, len(list))
	for _, p := range list {
		go func() {
			if p == nil {
				errs <- nil
				return
			}
			errs <- p.Stop(signal)
		}()
	}
	var all []error
	for range list {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}
