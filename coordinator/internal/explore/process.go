package explore

import (
	"fmt"
	"strings"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/batcher"
	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/hub"
	"github.com/palisade-go/palisade/coordinator/internal/keeper"
	"github.com/palisade-go/palisade/statemachine"
)

// phase is where a call is, as its caller knows.
type phase uint8

const (
	unasked phase = iota
	asked
	queued
	holds
	leaving // it was cancelled or released; Over follows
	lost    // Over follows
	failed  // Over follows
	over
	refused
)

// process is one start of a node: its hub, and the callers. A process is
// never changed once the search has it; what happens to it happens to a copy.
type process struct {
	Node        statemachine.NodeID
	Incarnation statemachine.Incarnation
	Now         clock.Instant
	Callers     []caller
	Hub         *hub.Hub
	Seq         statemachine.Seq // the last one given
	Sent        []sentAcquire
	Silent      bool // it stands still for good
}

type caller struct {
	Ask      Ask
	Phase    phase
	Lease    statemachine.LeaseID
	LimitEnd clock.Instant
}

// sentAcquire tells whose a seq is.
type sentAcquire struct {
	seq statemachine.Seq
	ref hub.Ref
}

// The instant at which a clock starts. Zero stands for never.
const morning clock.Instant = 1 << 20

func newProcess(node statemachine.NodeID, incarnation statemachine.Incarnation, asks []Ask, t time.Duration) *process {
	p := &process{Node: node, Incarnation: incarnation, Now: morning}
	for _, a := range asks {
		p.Callers = append(p.Callers, caller{Ask: a})
	}
	p.Hub = hub.New(hub.Config{
		Identity: batcher.Identity{Node: node, Directory: statemachine.DirectoryID{byte(node)}, Incarnation: incarnation},
		NextSeq:  p.nextSeq,
		Wall:     func() int64 { return 0 },
		Attempt:  max(1, t/8),
		Backoff:  1,
	})
	return p
}

func (p *process) nextSeq() statemachine.Seq {
	p.Seq++
	return p.Seq
}

// copy returns a process that goes its own way.
func (p *process) copy() *process {
	c := clone(p)
	inside[hub.Config](c.Hub, "cfg").NextSeq = c.nextSeq
	return c
}

func (p *process) batcher() *batcher.Batcher { return *inside[*batcher.Batcher](p.Hub, "batcher") }
func (p *process) keeper() *keeper.Keeper    { return *inside[*keeper.Keeper](p.Hub, "keeper") }
func (p *process) seen() statemachine.Index  { return *inside[statemachine.Index](p.Hub, "seen") }

// trusts says that a caller takes itself for the owner at this instant: what
// Held returns.
func (p *process) trusts(c *caller, t time.Duration) bool {
	heard, ok := p.Hub.HeardAt()
	return c.Phase == holds && ok && p.Now < heard.Add(keeper.Window(t)) && (c.LimitEnd == 0 || p.Now < c.LimitEnd)
}

// trusted says that some caller does.
func (p *process) trusted(t time.Duration) bool {
	for i := range p.Callers {
		if p.trusts(&p.Callers[i], t) {
			return true
		}
	}
	return false
}

// requestID names a caller in the log.
func (p *process) requestID(ref hub.Ref) string {
	return fmt.Sprintf("%d.%d/%d", p.Node, p.Incarnation, ref)
}

func (p *process) ask(ref hub.Ref, t time.Duration) {
	c := &p.Callers[ref-1]
	c.Phase = asked
	var claims []statemachine.Claim
	for _, key := range strings.Split(c.Ask.Keys, "") {
		claims = append(claims, statemachine.Claim{Key: key, Mode: statemachine.Exclusive})
	}
	p.Hub.Acquire(ref, hub.Ask{
		Claims: claims, Wait: !c.Ask.Try, TTL: t, Limit: c.Ask.Limit, RequestID: p.requestID(ref), Metadata: c.Ask.Keys,
	}, p.Now)
}

// cancel is a caller that leaves, or gives its lease back.
func (p *process) cancel(ref hub.Ref) {
	p.Callers[ref-1].Phase = leaving
	p.Hub.Cancel(ref, p.Now)
}

// distrust is a caller that looked at the clock before the hub did.
func (p *process) distrust(ref hub.Ref) {
	p.Callers[ref-1].Phase = lost
	p.Hub.Distrust(ref, p.Now)
}

// next returns how long it is until the next instant at which the process may
// behave otherwise than now; zero: it never will of its own accord. Those are
// the ends of windows, the times to renew and to retry, and when it falls
// blind. The hub itself asks to be looked at more often.
func (p *process) next(t time.Duration, sparse bool) time.Duration {
	const far = clock.Instant(1 << 40)
	var at []clock.Instant
	if p.Silent {
		for i := range p.Callers {
			if c := &p.Callers[i]; p.trusts(c, t) {
				heard, _ := p.Hub.HeardAt()
				at = append(at, heard.Add(keeper.Window(t)), c.LimitEnd)
			}
		}
		return p.until(at)
	}
	b, k := p.batcher(), p.keeper()
	if end, kept := k.Next(far); kept {
		at = append(at, end)
	}
	if due, kept := k.RenewAt(); kept && b.Room() {
		at = append(at, due)
	}
	for _, f := range b.Flights() {
		if sparse {
			break
		}
		at = append(at, f.RetryAt)
	}
	if len(b.Flights()) > 0 {
		pace := k.Pace()
		if pace == 0 {
			pace = 4 * max(1, t/8)
		}
		settled := *inside[clock.Instant](p.Hub, "settled")
		at = append(at, max(settled, b.Flights()[0].FirstSend).Add(pace))
	}
	return p.until(at)
}

// until returns how long it is until the first of the instants that is to
// come; zero: none is.
func (p *process) until(at []clock.Instant) (d time.Duration) {
	for _, i := range at {
		if i > p.Now && (d == 0 || i.Sub(p.Now) < d) {
			d = i.Sub(p.Now)
		}
	}
	return d
}
