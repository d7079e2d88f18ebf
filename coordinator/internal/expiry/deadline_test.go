package expiry

import (
	"math"
	"math/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
)

func TestDeadline(t *testing.T) {
	const ttl = 10 * time.Second
	for _, test := range []struct {
		name          string
		heard, office time.Duration
		want          time.Duration
	}{
		{"WithoutAChangeOfLeaderItIsHeardPlusT", 20 * time.Second, 0, 30 * time.Second},
		{"AnEarlyChangeOfLeaderAddsNothing", 20 * time.Second, 25 * time.Second, 30 * time.Second},
		{"ALateChangeOfLeaderGivesHalfOfTFromThen", 20 * time.Second, 28 * time.Second, 33 * time.Second},
		{"AChangeOfLeaderAfterTheDeadlineGivesHalfOfTFromThen", 20 * time.Second, 34 * time.Second, 39 * time.Second},
		{"NothingGoesPastHeardPlusTwiceT", 20 * time.Second, 36 * time.Second, 40 * time.Second},
		{"AnOfficeLongAfterFindsItDue", 20 * time.Second, 90 * time.Second, 40 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, clock.Instant(test.want),
				deadline(clock.Instant(test.heard), clock.Instant(test.office), ttl))
		})
	}
	t.Run("ATTLThatNobodyChecksDoesNotOverflow", func(t *testing.T) {
		now := clock.Instant(100 * 365 * 24 * time.Hour)
		require.Greater(t, deadline(now, now, math.MaxInt64), now)
	})
}

// TestClosedFormEqualsTheRuleTakenStepByStep applies the rule of the design,
// deadline = min(max(deadline, now+T/2), heard+2T), at each of many elections
// and compares it with the closed form.
func TestClosedFormEqualsTheRuleTakenStepByStep(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewSource(seed))
	for range 2_000 {
		ttl := 2 * time.Duration(1+random.Int63n(int64(time.Minute)))
		heard := clock.Instant(random.Int63n(int64(time.Minute)))
		stepped := heard.Add(ttl)
		for now, n := heard, random.Intn(12); n > 0; n-- {
			now = now.Add(time.Duration(random.Int63n(int64(ttl))))
			stepped = min(max(stepped, now.Add(ttl/2)), heard.Add(2*ttl))
			require.Equal(t, stepped, deadline(heard, now, ttl))
		}
	}
}
