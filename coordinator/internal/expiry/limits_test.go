package expiry

import (
	"math/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/statemachine"
)

func TestLimitsGiveTheFirstDueWhateverIsRemoved(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewSource(seed))
	var l limits
	model := make(map[statemachine.LeaseID]clock.Instant)
	for range 20_000 {
		id := statemachine.LeaseID{Node: 1, Incarnation: 1, Seq: statemachine.Seq(random.Intn(50))}
		if random.Intn(2) == 0 {
			model[id] = clock.Instant(random.Intn(1000))
			l.add(id, model[id])
		} else {
			delete(model, id)
			l.remove(id)
		}
		require.Len(t, l.entries, len(model))
		require.Len(t, l.byLease, len(model))
		first, due, ok := l.first()
		require.Equal(t, len(model) > 0, ok)
		for other, end := range model {
			require.True(t, due < end || due == end && first.Seq <= other.Seq,
				"first is %v at %v, but %v is due at %v", first, due, other, end)
		}
		if ok {
			require.Equal(t, model[first], due)
		}
	}
}

func TestLimitsBreakTiesByLease(t *testing.T) {
	var l limits
	for _, id := range []statemachine.LeaseID{
		{Node: 2, Incarnation: 1, Seq: 1}, {Node: 1, Incarnation: 2, Seq: 1},
		{Node: 1, Incarnation: 1, Seq: 2}, {Node: 1, Incarnation: 1, Seq: 1},
	} {
		l.add(id, 7)
	}
	var order []string
	for {
		id, _, ok := l.first()
		if !ok {
			break
		}
		order = append(order, id.String())
		l.remove(id)
	}
	require.Equal(t, []string{"1.1.1", "1.1.2", "1.2.1", "2.1.1"}, order)
}
