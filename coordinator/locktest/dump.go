package locktest

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Dump is the state of one group's replica on one node.
type Dump struct {
	Node  int
	Index uint64 // of the last log entry that the replica has applied
	Text  string // readable; equal on all replicas at the same index
}

// Dumps returns the states of a group's replicas on all nodes that run. The
// order is that of the nodes. It fails the test if a replica has no dump.
func (c *Cluster) Dumps(group int) []Dump {
	c.t.Helper()
	dumps, err := c.dumps(group)
	if err != nil {
		c.t.Fatalf("locktest: %v", err)
	}
	return dumps
}

func (c *Cluster) dumps(group int) ([]Dump, error) {
	var dumps []Dump
	for _, r := range c.running() {
		index, text, err := r.controls.Dump(group)
		if err != nil {
			return nil, fmt.Errorf("dump of group %d on node %d: %w", group, r.number, err)
		}
		dumps = append(dumps, Dump{r.number, index, text})
	}
	return dumps, nil
}

// WaitEqualDumps waits until in every group all nodes that run have applied
// the log up to the same index, and compares their states there. It returns an
// error that shows them if two differ, and that of ctx if it ends first.
func (c *Cluster) WaitEqualDumps(ctx context.Context) error {
	groups := 0
	for _, r := range c.running() {
		groups = max(groups, r.groups)
	}
	var errs []error
	for group := 1; group <= groups; group++ {
		var failed error
		err := c.Await(ctx, fmt.Sprintf("all replicas of group %d at one index", group), func() bool {
			dumps, err := c.dumps(group)
			if err == nil {
				err = differ(group, dumps)
			}
			failed = err
			return err != nil || sameIndex(dumps)
		})
		errs = append(errs, failed, err)
	}
	return errors.Join(errs...)
}

// differ returns an error if two dumps of the same index differ.
func differ(group int, dumps []Dump) error {
	first := make(map[uint64]Dump)
	for _, d := range dumps {
		other, seen := first[d.Index]
		if !seen {
			first[d.Index] = d
			continue
		}
		if other.Text != d.Text {
			return fmt.Errorf("group %d at index %d differs between node %d and node %d:\n%s", group, d.Index, other.Node, d.Node, firstDifference(other.Text, d.Text))
		}
	}
	return nil
}

func sameIndex(dumps []Dump) bool {
	for _, d := range dumps {
		if d.Index != dumps[0].Index {
			return false
		}
	}
	return true
}

// firstDifference shows the first lines that differ.
func firstDifference(a, b string) string {
	left, right := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := 0; i < len(left) || i < len(right); i++ {
		var l, r string
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		if l != r {
			return fmt.Sprintf("line %d\n- %s\n+ %s", i+1, l, r)
		}
	}
	return "nothing"
}
