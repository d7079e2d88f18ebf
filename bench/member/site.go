package member

import (
	"context"

	"github.com/palisade-go/palisade/bench/crew"
)

// Site is a crew.Site inside of a member's process. The member's service has
// Ready and Run, for which it can embed Crew.
type Site struct{ process *Process }

// Site returns the site of a member.
func (p *Process) Site() Site { return Site{p} }

// Ready opens what some workers need.
func (s Site) Ready(ctx context.Context, workers int) error {
	return s.process.Call(ctx, "Ready", workers, &Nothing{})
}

// Run carries out a plan.
func (s Site) Run(ctx context.Context, p crew.Plan) (tally crew.Tally, err error) {
	err = s.process.Call(ctx, "Run", p, &tally)
	return tally, err
}

// Crew is the half of a Site that lives with the member.
type Crew struct{ Workers *crew.Site }

// Ready is called by Site.Ready.
func (c *Crew) Ready(workers int, _ *Nothing) error {
	return c.Workers.Ready(context.Background(), workers)
}

// Run is called by Site.Run.
func (c *Crew) Run(p crew.Plan, tally *crew.Tally) (err error) {
	*tally, err = c.Workers.Run(context.Background(), p)
	return err
}
