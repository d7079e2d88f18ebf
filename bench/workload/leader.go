package workload

import (
	"context"
	"errors"
	"time"

	"github.com/palisade-go/palisade/bench/crew"
	"github.com/palisade-go/palisade/bench/peer"
)

// The death of a leader is awaited by workers that take a free key again and
// again. What they find is rounded up by the pause between two attempts.
const deathPause = 2 * time.Millisecond

// leaderDeath measures how long after the death of the member that leads for a
// key nobody gets it, though it is free. The workers are at the other members.
func leaderDeath() Workload {
	const name = "leader"
	return Workload{
		Name:  name,
		About: "from the death of a leader to the next grant of a free key, asked for at the other members",
		Measure: func(ctx context.Context, t Trial) (Values, error) {
			failing, ok := t.Cluster.(peer.Failing)
			if !ok {
				return nil, &UnfitError{"it has one server"}
			}
			key := t.key(name)
			leader, err := failing.Leader(ctx, key)
			if err != nil {
				return nil, err
			}
			var survivors []peer.Site
			for i, site := range t.Cluster.Sites() {
				if i != leader {
					survivors = append(survivors, site)
				}
			}
			plan := crew.Plan{
				Workers: len(survivors), Keys: crew.One, Prefix: key,
				For: t.Watch, Pause: deathPause, Patient: true, Stamps: true,
			}
			death, tally, err := during(ctx, t.Lead, survivors, plan, func() error { return failing.Kill(leader) })
			if revived := failing.Revive(ctx, leader); err != nil || revived != nil {
				return nil, errors.Join(err, revived)
			}
			gap, err := afterDeath(tally.Grants, death)
			if err != nil {
				return nil, err
			}
			v := Values{}
			v.setTime(ToNextGrant, gap)
			return v, nil
		},
	}
}

// during runs a plan, and kills something when the workers have been at work for
// some time. It returns when that was.
func during(ctx context.Context, lead time.Duration, sites []peer.Site, plan crew.Plan, kill func() error) (crew.Instant, crew.Tally, error) {
	parts := plan.Split(len(sites))
	// The workers are at work before the time until the death begins.
	err := each(sites, func(i int, s peer.Site) error { return s.Ready(ctx, parts[i].Workers) })
	if err != nil {
		return 0, crew.Tally{}, err
	}
	type outcome struct {
		tally crew.Tally
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		tally, err := together(ctx, sites, parts)
		done <- outcome{tally, err}
	}()
	rested := rest(ctx, lead)
	death := crew.Now()
	killed := kill()
	end := <-done
	return death, end.tally, errors.Join(rested, killed, end.err)
}

// afterDeath returns how long after a death the first grant came that was asked
// for after it. It fails when the workers had got nothing before it, or nothing
// after it.
func afterDeath(grants []crew.Grant, death crew.Instant) (time.Duration, error) {
	before := 0
	first := crew.Instant(0)
	for _, g := range grants {
		switch {
		case g.Got < death:
			before++
		case g.Began >= death && (first == 0 || g.Got < first):
			first = g.Got
		}
	}
	if before == 0 {
		return 0, errors.New("nobody was granted anything before the death")
	}
	if first == 0 {
		return 0, errors.New("nobody was granted anything any more")
	}
	return first.Sub(death), nil
}
