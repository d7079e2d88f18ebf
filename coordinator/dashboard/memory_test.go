package dashboard

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func subject(request int) coordinator.Subject {
	return coordinator.Subject{Request: uint64(request), Keys: []string{fmt.Sprint("key ", request)}, TTL: time.Minute, Token: 7, Group: 3}
}

func TestEachWayAWaitEndsIsCounted(t *testing.T) {
	d := New(Options{})
	for end := coordinator.WaitOther; end <= coordinator.WaitClosed; end++ {
		to := coordinator.Failed
		if end == coordinator.WaitAcquired {
			to = coordinator.Active
		}
		for range int(end) + 1 {
			d.Observe(&coordinator.Transition{Subject: subject(1), At: noon, To: to, Wait: end, Took: time.Second})
		}
	}
	v := d.view(noon, choice{})
	for end := coordinator.WaitOther; end <= coordinator.WaitClosed; end++ {
		require.EqualValues(t, end+1, v.WaitEnds[end.String()])
	}
	require.EqualValues(t, coordinator.WaitAcquired+1, v.Trend[59].Acquired)
	require.Equal(t, 45-v.Trend[59].Acquired, v.Trend[59].Failed)
	require.Greater(t, v.Trend[59].WaitP50, 1.0)
	require.Equal(t, []HotKey{{Key: "key 1", Waited: 45}}, v.Hot)
}

func TestEachLossIsShownWithItsReason(t *testing.T) {
	d := New(Options{})
	words := map[string]bool{}
	for reason := coordinator.LossUnknown; reason <= coordinator.LossClosed; reason++ {
		d.Observe(&coordinator.Transition{
			Subject: subject(int(reason)), At: noon, From: coordinator.Active, To: coordinator.Lost, Loss: reason, Took: time.Second,
		})
		l := d.view(noon, choice{}).Losses[0]
		require.Equal(t, Loss{
			At: noon, Request: uint64(reason), Key: fmt.Sprint("key ", int(reason)), Keys: 1, Token: "7", Group: 3,
			Reason: reason.String(), Why: l.Why, Held: 1, TTL: 60,
		}, l)
		words[l.Why] = true
	}
	require.Len(t, words, 6, "each is told in words of its own")
	d.Observe(&coordinator.Overrun{Subject: subject(int(coordinator.LossLimit)), At: noon, After: 3 * time.Second})
	for _, l := range d.view(noon, choice{}).Losses {
		if l.Request == uint64(coordinator.LossLimit) {
			require.Equal(t, 3.0, *l.ReleasedAfter)
		} else {
			require.Nil(t, l.ReleasedAfter)
		}
	}
	require.Equal(t, 6, d.view(noon, choice{}).Trend[59].Losses)
}

func TestWhatHappensToTheNodeIsShown(t *testing.T) {
	d := New(Options{})
	for _, e := range []coordinator.Event{
		&coordinator.LeaderChanged{At: noon, Group: 3, Term: 5},
		&coordinator.LeaderChanged{At: noon, Group: 3, Leader: 2, Term: 5},
		&coordinator.Renewing{At: noon, Group: 3, Failing: true, Leases: 9},
		&coordinator.Renewing{At: noon, Group: 3, Leases: 9},
		&coordinator.Renewing{At: noon, Group: 3, Failing: true}, // nothing is at stake
		&coordinator.Expired{At: noon, Group: 3, Leases: 9},
		&coordinator.Committed{At: noon, Group: 3},
		&coordinator.Dropped{Events: 11},
	} {
		d.Observe(e)
	}
	v := d.view(noon, choice{})
	require.Equal(t, []Happening{
		{noon, true, "group 3 has expired 9 leases of this node"},
		{noon, false, "group 3: renewing works again, 9 leases"},
		{noon, true, "group 3: renewing fails, 9 leases"},
		{noon, false, "group 3 is led by node 2 in term 5"},
		{noon, true, "group 3 has no leader in term 5"},
	}, v.Events)
	require.Equal(t, 2, v.Trend[59].LeaderChanges)
	require.EqualValues(t, 11, v.Dropped)
}

func TestMemoryIsBounded(t *testing.T) {
	m := newMemory()
	for i := range 1_000_000 {
		at := noon.Add(time.Duration(i) * time.Second)
		m.note(&coordinator.Transition{Subject: subject(i), At: at, To: coordinator.Active, Wait: coordinator.WaitAcquired, Took: time.Second})
		if i%10 == 0 {
			m.note(&coordinator.Transition{Subject: subject(i), At: at, To: coordinator.Lost})
			m.note(&coordinator.Expired{At: at, Leases: i})
		}
	}
	require.Len(t, m.heat.now.counters, sketchCounters)
	require.Len(t, m.heat.earlier.counters, sketchCounters)
	require.Equal(t, lossesKept, cap(m.losses.newest()))
	require.Len(t, m.losses.values, lossesKept)
	require.Len(t, m.events.values, eventsKept)
	require.Len(t, m.waitEnds, 9)
	require.Equal(t, "key 999990", m.losses.newest()[0].Key)
	require.Equal(t, "key 998000", m.losses.newest()[lossesKept-1].Key)
	require.True(t, strings.Contains(m.events.newest()[0].What, "999990"))
}
