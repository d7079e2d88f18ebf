package raftnode

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOffer(t *testing.T) {
	const attempt = 10 * time.Second
	start := time.Now()
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

	t.Run("IsMadeAtOnceAndAgainAfterThePauseWhileNobodyTakesIt", func(t *testing.T) {
		var o offer
		require.False(t, o.due(at(0), false, attempt), "there is nothing to offer")
		require.True(t, o.due(at(1), true, attempt))
		require.False(t, o.due(at(10), true, attempt))
		require.True(t, o.due(at(11), true, attempt))
		require.False(t, o.due(at(20), true, attempt))
		require.True(t, o.due(at(21), true, attempt), "the pause stays: nobody took it")
	})
	t.Run("IsMadeLessAndLessOftenWhenTheLeadershipComesBack", func(t *testing.T) {
		var o offer
		var pauses []int
		last := 0
		require.True(t, o.due(at(0), true, attempt))
		for second := 1; len(pauses) < 6; second++ {
			require.False(t, o.due(at(second), false, attempt), "another one leads")
			if o.due(at(second), true, attempt) {
				pauses = append(pauses, second-last)
				last = second
			}
		}
		require.Equal(t, []int{10, 20, 40, 60, 60, 60}, pauses)
	})
	t.Run("PausesNeverForLessThanOneAttempt", func(t *testing.T) {
		var o offer
		const slow = 2 * offerPauseMax
		require.True(t, o.due(at(0), true, slow))
		require.False(t, o.due(at(1), false, slow))
		require.False(t, o.due(at(119), true, slow))
		require.True(t, o.due(at(120), true, slow))
		require.False(t, o.due(at(121), false, slow))
		require.False(t, o.due(at(239), true, slow))
		require.True(t, o.due(at(240), true, slow))
	})
}
