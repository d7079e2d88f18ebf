package workload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/palisade-go/palisade/bench/crew"
	"github.com/palisade-go/palisade/bench/peer"
)

// holderTTL is the TTL of a holder that dies, holderWatch how long the next one
// waits.
const (
	holderTTL   = 5 * time.Second
	holderWatch = 6 * holderTTL
)

// holderDeath measures how long after the death of a holder's process the one
// who waits in line gets the key.
func holderDeath() Workload {
	const name = "holder"
	return Workload{
		Name:  name,
		About: fmt.Sprintf("from the death of a holder's process to the grant of the next in line, T = %v", holderTTL),
		Measure: func(ctx context.Context, t Trial) (Values, error) {
			holding, ok := t.Cluster.(peer.Holding)
			if !ok {
				return nil, &UnfitError{"a holder can't be killed here"}
			}
			key := t.key(name)
			holder, err := holding.Hold(ctx, key, holderTTL)
			if err != nil {
				return nil, err
			}
			plan := crew.Plan{Workers: 1, Keys: crew.One, Prefix: key, For: holderWatch, Turns: 1, Stamps: true}
			death, tally, err := during(ctx, t.Lead, []peer.Site{holder.Site()}, plan, holder.Kill)
			if restored := holder.Restore(ctx); err != nil || restored != nil {
				return nil, errors.Join(err, restored)
			}
			if len(tally.Grants) != 1 || tally.Grants[0].Got < death {
				return nil, fmt.Errorf("the key was not held until the death: %d grants", len(tally.Grants))
			}
			gap := tally.Grants[0].Got.Sub(death)
			v := Values{}
			v.setTime(ToNextGrant, gap)
			v.set(ToNextGrantByTTL, gap.Seconds()/holderTTL.Seconds())
			return v, nil
		},
	}
}
