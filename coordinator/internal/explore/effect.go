package explore

import (
	"fmt"
	"slices"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/hub"
	"github.com/palisade-go/palisade/coordinator/internal/keeper"
	"github.com/palisade-go/palisade/statemachine"
)

// outcome is what an input to a process came to.
type outcome struct {
	sends  []uint32 // messages
	notes  notes
	broken string
}

// carryOut takes what the hub wants done.
func (p *process) carryOut(b *book, t time.Duration) (o outcome) {
	for _, e := range p.Hub.Effects() {
		p.effect(e, b, t, &o)
	}
	return o
}

func (p *process) effect(e hub.Effect, b *book, t time.Duration, o *outcome) {
	wrong := func(ref hub.Ref) {
		o.broken = fmt.Sprintf("the hub said %T%+v to a caller in phase %d", e, e, p.Callers[ref-1].Phase)
	}
	become := func(ref hub.Ref, next phase, n Note, from ...phase) {
		if !slices.Contains(from, p.Callers[ref-1].Phase) {
			wrong(ref)
		}
		p.Callers[ref-1].Phase = next
		o.notes.add(n)
	}
	switch e := e.(type) {
	case hub.Send:
		p.send(e, b, o)
	case hub.Queued:
		// Once more, when what came of the first place came too late.
		become(e.Ref, queued, Queued, asked, queued)
		if heard, ok := p.Hub.HeardAt(); !ok || p.Now >= heard.Add(keeper.Window(t)) {
			o.broken = "a caller is told of a place that can't be trusted any longer"
		}
	case hub.Granted:
		c := &p.Callers[e.Ref-1]
		become(e.Ref, holds, Granted, asked, queued)
		if len(c.Ask.Keys) > 1 {
			o.notes.add(GrantedPair)
		}
		c.Lease, c.LimitEnd = e.Lease, e.LimitEnd
		if !p.trusts(c, t) {
			o.broken = fmt.Sprintf("G3: %v was given to its caller when its window was over", e.Lease)
		}
	case hub.Refused:
		become(e.Ref, refused, Refused, asked)
		if e.Reason != statemachine.RefusedBusy || !p.Callers[e.Ref-1].Ask.Try {
			o.broken = fmt.Sprintf("refused: %v", e.Reason)
		}
	case hub.Unavailable:
		become(e.Ref, failed, Unavailable, asked, queued, leaving)
	case hub.Lost:
		become(e.Ref, lost, lossNote[e.Reason], holds, lost, leaving)
	case hub.Over:
		p.Callers[e.Ref-1].end(func() { wrong(e.Ref) })
	case hub.Failing:
		o.notes.add(Failing)
	case hub.Recovered:
		o.notes.add(Recovered)
	default:
		o.broken = fmt.Sprintf("the hub said %T %+v", e, e)
	}
}

var lossNote = map[hub.LossReason]Note{
	hub.LostWindow: LostByWindow, hub.LostLimit: LostByLimit, hub.LostExpired: LostByEvent,
	hub.LostSwept: LostByEvent, hub.LostUnknown: LostByState,
}

func (c *caller) end(wrong func()) {
	switch c.Phase {
	case leaving, lost, failed:
	default:
		wrong()
	}
	c.Phase, c.Lease, c.LimitEnd = over, statemachine.LeaseID{}, 0
}

// send notes what a batch tells of what the hub does inside.
func (p *process) send(s hub.Send, b *book, o *outcome) {
	n := b.message(s.Data)
	o.sends = append(o.sends, n)
	if s.Attempt > 1 {
		o.notes.add(Retried)
		return
	}
	for _, c := range b.messages.at(n).batch.Commands {
		switch c := c.(type) {
		case statemachine.Acquire:
			p.sentAcquire(c, o)
		case statemachine.Cancel:
			p.sentEnding(c.Seq, o)
		case statemachine.Release:
			p.sentEnding(c.Seq, o)
		}
	}
}

func (p *process) sentAcquire(c statemachine.Acquire, o *outcome) {
	var ref hub.Ref
	for i := range p.Callers {
		if p.requestID(hub.Ref(i+1)) == c.RequestID {
			ref = hub.Ref(i + 1)
		}
	}
	for _, s := range p.Sent {
		if s.ref == ref {
			o.notes.add(AskedAgain)
		}
		if s.seq >= c.Seq {
			o.broken = fmt.Sprintf("seq %d was sent after seq %d", c.Seq, s.seq)
		}
	}
	p.Sent = append(p.Sent, sentAcquire{c.Seq, ref})
}

func (p *process) sentEnding(seq statemachine.Seq, o *outcome) {
	for _, s := range p.Sent {
		if s.seq != seq {
			continue
		}
		if phase := p.Callers[s.ref-1].Phase; phase == asked || phase == queued {
			o.notes.add(GivenBack)
		}
		return
	}
	o.notes.add(Disowned)
}
