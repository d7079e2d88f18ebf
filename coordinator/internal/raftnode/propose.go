package raftnode

import (
	"errors"
	"fmt"
	"time"

	"github.com/lni/dragonboat/v4"

	"github.com/palisade-go/palisade/statemachine"
)

// Propose hands data to the engine as one log entry of the group and returns
// at once. Data is copied. Done is called exactly once, on this or another
// goroutine, and before Close returns; it must not block or call Close. It is
// told nil when the engine says that the entry was applied here, and else an
// error that wraps one of:
//
//   - ErrNotApplied: it is surely not applied. With ErrClosed: the Node is
//     closing. With ErrUnknownGroup: there is no such group. With ErrNotReady:
//     there is no leader, or the engine is too busy.
//   - ErrUnknownOutcome: the timeout passed, or the Node was closed meanwhile.
//
// A timeout below two of the engine's ticks is raised to that. What happened
// is told by the Sink; what done is told is only a hint. It costs one log
// entry.
func (n *Node) Propose(group statemachine.GroupID, data []byte, timeout time.Duration, done func(error)) {
	r := n.replica(group)
	if r == nil {
		done(fmt.Errorf("%w: %w: %d", ErrNotApplied, ErrUnknownGroup, group))
		return
	}
	if !n.gate.enter() {
		done(fmt.Errorf("%w: %w", ErrNotApplied, ErrClosed))
		return
	}
	timeout = max(timeout, 2*n.cfg.tick())
	request, err := n.host.Propose(n.sessions[group-1], data, timeout)
	if err == nil {
		n.waiters.Add(1) // inside the gate, so before Close waits for them
	}
	n.gate.leave()
	if err != nil {
		done(refusal(err))
		return
	}
	go func() {
		defer n.waiters.Done()
		done(n.outcome(request, timeout))
	}()
}

// outcomeGrace is how long after its timeout the engine may take to say so: up to
// three ticks, which are counted by the loop that syncs the log, so that a disk
// that hangs stops them.
func (c Config) outcomeGrace() time.Duration { return max(time.Second, 4*c.tick()) }

// outcome waits for what became of a proposal.
func (n *Node) outcome(request *dragonboat.RequestState, timeout time.Duration) error {
	timer := time.NewTimer(timeout + n.cfg.outcomeGrace())
	defer timer.Stop()
	select {
	case result := <-request.ResultC():
		request.Release()
		return proposalError(result)
	case <-timer.C:
		return fmt.Errorf("%w: the engine gave no answer for %v", ErrUnknownOutcome, timeout+n.cfg.outcomeGrace())
	case <-n.stopped:
	}
	// The engine answers what is open when it stops; prefer that answer.
	select {
	case result := <-request.ResultC():
		request.Release()
		return proposalError(result)
	default:
		return fmt.Errorf("%w: the node was closed", ErrUnknownOutcome)
	}
}

// refusal translates the error with which the engine did not take a proposal.
func refusal(err error) error {
	switch {
	case errors.Is(err, dragonboat.ErrShardClosed):
		// The engine uses this error also for what was pending at the stop.
		return fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
	case errors.Is(err, dragonboat.ErrShardNotReady), errors.Is(err, dragonboat.ErrSystemBusy):
		return fmt.Errorf("%w: %w: %w", ErrNotApplied, ErrNotReady, err)
	case errors.Is(err, dragonboat.ErrClosed):
		return fmt.Errorf("%w: %w: %w", ErrNotApplied, ErrClosed, err)
	case errors.Is(err, dragonboat.ErrShardNotFound),
		errors.Is(err, dragonboat.ErrTimeoutTooSmall),
		errors.Is(err, dragonboat.ErrPayloadTooBig),
		errors.Is(err, dragonboat.ErrInvalidSession),
		errors.Is(err, dragonboat.ErrInvalidOperation),
		errors.Is(err, dragonboat.ErrInvalidDeadline),
		errors.Is(err, dragonboat.ErrDeadlineNotSet):
		return fmt.Errorf("%w: %w", ErrNotApplied, err)
	}
	return fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
}

// proposalError translates the engine's answer to a proposal that it took.
// Only a proposal that the local log refused is surely not applied; all other
// answers leave it open.
func proposalError(result dragonboat.RequestResult) error {
	switch {
	case result.Completed():
		return nil
	case result.Dropped():
		return fmt.Errorf("%w: %w: %w", ErrNotApplied, ErrNotReady, dragonboat.ErrShardNotReady)
	case result.Timeout():
		return fmt.Errorf("%w: %w", ErrUnknownOutcome, dragonboat.ErrTimeout)
	case result.Terminated():
		return fmt.Errorf("%w: %w", ErrUnknownOutcome, dragonboat.ErrShardClosed)
	case result.Rejected():
		return fmt.Errorf("%w: %w", ErrUnknownOutcome, dragonboat.ErrRejected)
	case result.Aborted():
		return fmt.Errorf("%w: %w", ErrUnknownOutcome, dragonboat.ErrAborted)
	}
	return fmt.Errorf("%w: the engine gave an answer that is not known", ErrUnknownOutcome)
}
