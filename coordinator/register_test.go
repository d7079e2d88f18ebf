package coordinator_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/token"
)

// Register is what the processes' locks protect: for each key a value that
// only the holder may write. It lives in the parent and outlasts them all.
// The methods with two arguments are called by the processes.
type Register struct {
	guard token.Guard

	mu      sync.Mutex
	moved   chan struct{} // closed and replaced at each entry and fault
	entries []Entry       // all that were accepted, in order
	refused int
	faults  []string // what the processes found wrong
	snares  map[coordinator.NodeID]*snare
}

// snare catches a node inside of a register.
type snare struct {
	caught chan Entry
	freed  chan struct{}
}

func newRegister() *Register {
	return &Register{moved: make(chan struct{}), snares: make(map[coordinator.NodeID]*snare)}
}

// Enter is the first step of a holder: each grant enters once, so its token
// must be greater than all before.
func (r *Register) Enter(e Entry, refused *bool) error {
	if stop, err := r.judge(r.guard.AcceptOnce(e.Key, e.Token), refused); stop {
		return err
	}
	r.mu.Lock()
	r.entries = append(r.entries, e)
	r.moveLocked()
	s := r.snares[e.Node]
	delete(r.snares, e.Node)
	r.mu.Unlock()
	if s != nil {
		s.caught <- e
		<-s.freed
	}
	return nil
}

func (r *Register) moveLocked() {
	close(r.moved)
	r.moved = make(chan struct{})
}

// Report is told what a process found wrong with the locks.
func (r *Register) Report(fault string, _ *Nothing) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, fault)
	r.moveLocked()
	return nil
}

// Write is a further step.
func (r *Register) Write(e Entry, refused *bool) error {
	_, err := r.judge(r.guard.Accept(e.Key, e.Token), refused)
	return err
}

func (r *Register) judge(err error, refused *bool) (stop bool, fault error) {
	if err == nil {
		return false, nil
	}
	if !errors.Is(err, token.ErrStale) {
		return true, err
	}
	*refused = true
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused++
	return true, nil
}

// catch keeps a node inside of the next register that it enters, until free is
// called. from is the position that its entry will have, or one below.
func (r *Register) catch(node coordinator.NodeID) (s *snare, from int) {
	s = &snare{caught: make(chan Entry, 1), freed: make(chan struct{})}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.snares[node] = s
	return s, len(r.entries)
}

func (s *snare) free() { close(s.freed) }

// await waits until an entry, from a position on, matches. What a process has
// found wrong fails the test at once.
func (r *Register) await(t *testing.T, what string, from int, match func(Entry) bool) {
	t.Helper()
	ended := patient(t).Done()
	for {
		r.mu.Lock()
		found, moved, faults := slices.ContainsFunc(r.entries[from:], match), r.moved, r.faults
		r.mu.Unlock()
		require.Empty(t, faults)
		if found {
			return
		}
		select {
		case <-moved:
		case <-ended:
			require.FailNow(t, "waited in vain for "+what)
		}
	}
}

// size returns how many entries there are.
func (r *Register) size() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.entries)
}

// check verifies that the tokens of each key only rose, and that no process
// has found anything wrong.
func (r *Register) check(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	require.Empty(t, r.faults)
	last := make(map[string]token.Token)
	for _, e := range r.entries {
		require.Greater(t, e.Token, last[e.Key], "token of %q", e.Key)
		last[e.Key] = e.Token
	}
	t.Logf("%d holds, %d steps refused because the lease was lost", len(r.entries), r.refused)
}
