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
	moved   chan struct{} // closed and replaced at each entry
	entries []Entry       // all that were accepted, in order
	refused int
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
	close(r.moved)
	r.moved = make(chan struct{})
	s := r.snares[e.Node]
	delete(r.snares, e.Node)
	r.mu.Unlock()
	if s != nil {
		s.caught <- e
		<-s.freed
	}
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
// called.
func (r *Register) catch(node coordinator.NodeID) *snare {
	s := &snare{caught: make(chan Entry, 1), freed: make(chan struct{})}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.snares[node] = s
	return s
}

func (s *snare) free() { close(s.freed) }

// find looks for an entry from the given position on. It returns a channel that
// is closed at the next entry.
func (r *Register) find(from int, match func(Entry) bool) (found bool, moved <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.entries[from:], match), r.moved
}

// size returns how many entries there are.
func (r *Register) size() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.entries)
}

// check verifies that all nodes entered the register of every key, and that
// the tokens of each key only rose.
func (r *Register) check(t *testing.T, nodes []coordinator.NodeID, keys []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := make(map[string]token.Token)
	seen := make(map[Entry]int)
	for _, e := range r.entries {
		require.Greater(t, e.Token, last[e.Key], "token of %q", e.Key)
		last[e.Key] = e.Token
		seen[Entry{Node: e.Node, Key: e.Key}]++
	}
	for _, node := range nodes {
		for _, key := range keys {
			require.NotZero(t, seen[Entry{Node: node, Key: key}], "holds of %q by node %d", key, node)
		}
	}
	t.Logf("%d holds, %d steps refused because the lease was lost", len(r.entries), r.refused)
}
