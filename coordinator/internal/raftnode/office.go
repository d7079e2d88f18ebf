package raftnode

import (
	"context"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/expiry"
	"github.com/palisade-go/palisade/statemachine"
)

// office is what a replica does while it leads: it takes office after a
// barrier, and proposes what package expiry says. It runs on one goroutine
// for each group, so a group that is stuck delays no other.
//
//	idle --leader here--> barrier --passed, same term--> in office
//	  ^                      |                              |
//	  +---- other leader ----+------- or new term ----------+
//	                         ^------- stalled --------------+
type office struct {
	node    *Node
	replica *replica
	term    uint64 // of the office, when one is held
	timer   *time.Timer
	stall   stall
}

// run works until ctx ends.
func (o *office) run(ctx context.Context) {
	o.timer = time.NewTimer(0)
	defer o.timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.replica.news:
		case <-o.timer.C:
		}
		o.timer.Stop()
		leader, here := o.replica.leads()
		if !here {
			o.leave()
			continue // the next change of leader is news
		}
		if o.held() && leader.Term != o.term {
			o.leave()
		}
		if !o.held() && !o.take(ctx, leader.Term) {
			continue
		}
		o.work()
	}
}

func (o *office) held() bool {
	o.replica.proposerMu.Lock()
	defer o.replica.proposerMu.Unlock()
	return o.replica.proposer.InOffice()
}

func (o *office) leave() {
	o.replica.proposerMu.Lock()
	defer o.replica.proposerMu.Unlock()
	o.replica.proposer.LeaveOffice()
}

// take passes a barrier and takes office, if this node still leads in the
// same term then. An answer to the barrier proves that this node led after
// all that earlier leaders committed was applied here. If it fails, the timer
// is set for the next attempt.
//
// The barrier may be passed in one term and another one begin before the
// look at the leader: then the terms differ and the office is not taken. If
// it begins after the look, the office is one that was just lost, and what it
// proposes is dropped or names what it saw.
func (o *office) take(ctx context.Context, term uint64) bool {
	if err := o.node.barrier(ctx, o.replica.group, o.node.cfg.Election); err != nil {
		o.handOverIfStuck(true) // a barrier waits for the apply loop, too
		o.timer.Reset(o.node.cfg.Election / 10)
		return false
	}
	leader, here := o.replica.leads()
	if !here || leader.Term != term {
		o.timer.Reset(0)
		return false
	}
	o.replica.proposerMu.Lock()
	defer o.replica.proposerMu.Unlock()
	o.replica.proposer.TakeOffice(o.replica.clock.Now())
	o.stall.watching = false // a barrier that was passed shows that the loop runs
	o.term = term
	o.replica.counters.offices.Add(1)
	return true
}

// work proposes what is due and sets the timer for the next look, which may be
// earlier than it has to be: offices look together.
func (o *office) work() {
	r := o.replica
	plan, wait := o.due()
	if plan.Barrier {
		o.node.log.Info("office was not looked after for too long; it is taken anew", "group", r.group)
		o.timer.Reset(0)
		return
	}
	if o.handOverIfStuck(len(plan.Batches) > 0) {
		// The engine's member that is asked refuses while it has an entry that it
		// has not applied, so nothing new goes to it along with the question. What
		// is due is proposed again later.
		o.timer.Reset(wait)
		return
	}
	for _, commands := range plan.Batches {
		data, err := statemachine.AppendBatch(nil, statemachine.Batch{Commands: commands})
		if err != nil {
			o.node.log.Error("can't encode what is due", "group", r.group, "cause", err)
			continue
		}
		r.counters.proposed(commands)
		// Whether it is applied shows in the state; if not, it is due again.
		o.node.Propose(r.group, data, o.node.retry(), func(error) {})
	}
	o.timer.Reset(wait)
}

// handOverIfStuck asks for another leader when this one does not apply what it
// proposes, and reports whether it has asked. The engine takes it as a wish; if
// nothing comes of it, the next member is asked after another while.
func (o *office) handOverIfStuck(proposed bool) bool {
	r := o.replica
	if !o.stall.stands(time.Now(), proposed, r.counters.applied.Load(), 2*o.node.retry()) {
		return false
	}
	to, ok := o.stall.successor(o.node.cfg.Members, r.node)
	if !ok {
		return false
	}
	o.node.log.Warn("this leader does not apply what it proposes; another one is asked for", "group", r.group, "to", to)
	if err := o.node.Transfer(r.group, to); err != nil {
		o.node.log.Warn("can't ask for another leader", "group", r.group, "cause", err)
	}
	return true
}

// due asks the proposer, with the machine and it standing still. It returns
// how long to wait before the next look.
func (o *office) due() (expiry.Plan, time.Duration) {
	r := o.replica
	r.mu.RLock()
	defer r.mu.RUnlock()
	r.proposerMu.Lock()
	defer r.proposerMu.Unlock()
	now := r.clock.Now()
	plan := r.proposer.Due(now, r.machine)
	return plan, onBeat(time.Now(), max(plan.Wake.Sub(now), 0))
}

// proposed counts commands of the leader.
func (c *counters) proposed(commands []statemachine.Command) {
	for _, command := range commands {
		switch command.(type) {
		case statemachine.Expire, statemachine.ExpireLimit:
			c.expireProposed.Add(1)
		case statemachine.Sweep:
			c.sweepsProposed.Add(1)
		}
	}
}
