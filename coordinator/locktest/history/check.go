package history

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

var (
	// ErrViolation says that no order of the operations keeps the contract.
	ErrViolation = errors.New("history: the contract was broken")
	// ErrUndecided says that the search did not end in time.
	ErrUndecided = errors.New("history: undecided")
)

// Check returns nil if the contract was kept, as the package comment has it.
// Records may come in any order. It takes at most about timeout for each key,
// set of keys that were taken together, and resource, and twice that for one
// that is not found right.
//
// Errors: ErrInvalid; and ErrViolation and ErrUndecided, which tell for each part
// how far an order could be found and what could not follow. Their times are
// seconds since the first call of all records.
func Check(records []Record, timeout time.Duration) error {
	if timeout <= 0 {
		return fmt.Errorf("%w: a timeout of %v", ErrInvalid, timeout)
	}
	for _, r := range records {
		if err := r.validate(); err != nil {
			return err
		}
	}
	problems := unjustified(records)
	for _, p := range split(records) {
		if result, _ := p.search(timeout, false); result != porcupine.Ok {
			problems = append(problems, p.problem(result, timeout))
		}
	}
	return errors.Join(problems...)
}

// Visualize writes a page that shows the operations on a key, or on a resource,
// and how far an order of them could be found. It searches again, for at most
// timeout.
func Visualize(w io.Writer, records []Record, about string, timeout time.Duration) error {
	for _, p := range split(records) {
		if slices.Contains(p.about, about) {
			_, info := p.search(timeout, true)
			return porcupine.Visualize(p.model, info, w)
		}
	}
	return fmt.Errorf("%w: nothing about %q", ErrInvalid, about)
}

// part is what is searched by itself.
type part struct {
	what    string   // key or resource
	about   []string // their names
	model   porcupine.Model
	records []Record // in the order of their calls
	start   Instant  // what times are told from
}

func (p part) search(timeout time.Duration, verbose bool) (porcupine.CheckResult, porcupine.LinearizationInfo) {
	clients := map[string]int{}
	var operations []porcupine.Operation
	for _, r := range p.records {
		id, known := clients[r.Client]
		if !known {
			id = len(clients)
			clients[r.Client] = id
		}
		operations = append(operations, porcupine.Operation{ClientId: id, Input: r, Call: int64(r.Call.since(p.start)), Return: int64(r.Return.since(p.start))})
	}
	if verbose {
		return porcupine.CheckOperationsVerbose(p.model, operations, timeout)
	}
	return porcupine.CheckOperationsTimeout(p.model, operations, timeout), porcupine.LinearizationInfo{}
}

// split makes the parts of a history: a part for each resource, and one for the
// keys that acquires join. Only what can change a state is in them: what
// left nothing can stand anywhere.
func split(records []Record) []part {
	var parts []part
	resources, keys, start := map[string][]Record{}, joined{}, firstCall(records)
	for _, r := range records {
		switch {
		case r.Kind == Write || r.Kind == Read:
			resources[r.Resource] = append(resources[r.Resource], r)
		case r.Outcome == Done || r.Kind == End:
			keys.join(r.Keys)
		}
	}
	for _, name := range sortedKeys(resources) {
		parts = append(parts, part{"resource", []string{name}, register.ToModel(), inOrder(resources[name]), start})
	}
	sets := map[string][]Record{}
	for _, r := range records {
		if r.Kind != Write && r.Kind != Read && (r.Outcome == Done || r.Kind == End) {
			root := keys.root(r.Keys[0])
			sets[root] = append(sets[root], r)
		}
	}
	for _, root := range sortedKeys(sets) {
		parts = append(parts, part{"key", keys.members(root), ownership, inOrder(sets[root]), start})
	}
	return parts
}

func inOrder(records []Record) []Record {
	slices.SortStableFunc(records, func(a, b Record) int { return int(min(1, max(-1, a.Call-b.Call))) })
	return records
}
