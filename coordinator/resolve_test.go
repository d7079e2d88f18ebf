package coordinator

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/identity"
	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/token"
)

// The state of a group can have a request in line that this node does not know
// of any longer, until it gives it back.
func TestResolveReadsTheState(t *testing.T) {
	const node = statemachine.NodeID(1)
	m := statemachine.New(statemachine.Genesis{Group: 1, Members: []statemachine.NodeID{node}})
	m.Apply(1, statemachine.Batch{Commands: []statemachine.Command{statemachine.Upgrade{Version: statemachine.Binary}}})
	index := statemachine.Index(1)
	apply := func(incarnation statemachine.Incarnation, number statemachine.BatchNumber, acquires ...statemachine.Acquire) {
		t.Helper()
		index++
		b := statemachine.Batch{
			Node: node, Directory: statemachine.DirectoryID{1}, Incarnation: incarnation, Number: number, Speaks: statemachine.Binary,
		}
		for _, a := range acquires {
			a.Claims = []statemachine.Claim{{Key: "key", Mode: statemachine.Exclusive}}
			a.Wait, a.TTL = true, time.Hour
			b.Commands = append(b.Commands, a)
		}
		m.Apply(index, b)
	}
	as := func(incarnation statemachine.Incarnation) *Coordinator {
		return &Coordinator{identity: &identity.Identity{Node: node, Incarnation: incarnation}}
	}
	apply(1, 1, statemachine.Acquire{Seq: 1, RequestID: "held"}, statemachine.Acquire{Seq: 2, RequestID: "first"},
		statemachine.Acquire{Seq: 3, RequestID: "second"})
	one, err := token.New(0, 1)
	require.NoError(t, err)
	require.Equal(t, Resolution{State: Owned, Token: one}, as(1).resolve(m, "key", "held"))
	require.Equal(t, Resolution{State: InLine, Position: 1}, as(1).resolve(m, "key", "first"))
	require.Equal(t, Resolution{State: InLine, Position: 2}, as(1).resolve(m, "key", "second"))
	require.Equal(t, Resolution{State: Absent}, as(1).resolve(m, "key", "third"))
	require.Equal(t, Resolution{State: Absent}, as(1).resolve(m, "other", "held"))

	apply(2, 1) // the next start of the node
	for _, id := range []string{"held", "first", "second"} {
		require.Equal(t, Resolution{State: Absent}, as(2).resolve(m, "key", id))
	}
	require.Equal(t, []string{"absent", "pending", "in line", "owned"},
		[]string{Absent.String(), Pending.String(), InLine.String(), Owned.String()})
}
