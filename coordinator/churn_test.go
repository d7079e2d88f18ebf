package coordinator_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/token"
)

// The record of a key goes with its last owner, in the entry of the release.
// Here records come and go under those who enter, until tries have met both
// often enough: no record, and one that is held. With a TTL of an hour nothing
// would wake one in line who was missed.
func TestS21TheRecordOfAFreeKeyGoesWhileOthersEnter(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	guard := token.NewGuard()
	const callers, keys, enough = 8, 3, 30
	var inside [keys]atomic.Int64
	var free, taken atomic.Int64
	parallel(callers, func(i int) {
		node := c.Node(i%2 + 1).Coordinator()
		for round := 0; round < enough || free.Load() < enough || taken.Load() < enough; round++ {
			which := (i + round) % keys
			key := fmt.Sprint("key ", which)
			acquire := node.Acquire
			if round%2 == 0 {
				acquire = node.TryAcquire
			}
			lease, err := acquire(ctx, key)
			switch {
			case errors.Is(err, coordinator.ErrBusy):
				taken.Add(1)
				continue
			case round%2 == 0 && errors.Is(err, coordinator.ErrUnavailable):
				continue // a machine so busy that 3 election timeouts are too short
			case err != nil:
				t.Errorf("round %d of caller %d: %v", round, i, err)
				return
			case round%2 == 0:
				free.Add(1)
			}
			if n := inside[which].Add(1); n != 1 {
				t.Errorf("%d are inside of %s", n, key)
			}
			if err := guard.Accept(key, lease.Token()); err != nil {
				t.Errorf("token %v of %s: %v", lease.Token(), key, err)
			}
			inside[which].Add(-1)
			if err := lease.Release(ctx); err != nil {
				t.Errorf("release: %v", err)
				return
			}
		}
	})
	require.GreaterOrEqual(t, free.Load(), int64(enough))
	require.GreaterOrEqual(t, taken.Load(), int64(enough))
	awaitNothingLeft(t, c)
}
