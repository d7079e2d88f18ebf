package transport

import (
	"context"
	"fmt"
)

// memoryDial is one dial of a Memory on its way. What the two sides say to one
// another crosses the network as it would over a wire, so that a fault may
// hold it up or end it at every step:
//
//	dialler                 acceptor
//	   | hello                  |
//	   |----------------------->|  judges
//	   |                 answer |
//	   |<-----------------------|
//	   | judges, answer         |
//	   |----------------------->|  the link is open
type memoryDial struct {
	network  *Memory
	member   *Member // who dials; nil if it never joined
	way      direction
	kind     Kind
	held     bool            // it is counted as held
	listener *memoryListener // that the hello has reached; nil before
}

// run returns the link, or why there is none.
func (d *memoryDial) run(ctx context.Context) (Link, error) {
	var theirs, ours *judgement
	err := d.cross(ctx, nil, func() {
		dialler := Peer{Hello: d.member.says(), Address: d.way.from, Accepted: true}
		theirs = begin(d.listener.member, dialler, &d.listener.running)
	})
	if err != nil {
		return nil, err
	}
	acceptor := Peer{Hello: d.listener.member.says(), Address: d.way.to}
	err = d.cross(ctx, theirs.done, func() {
		if theirs.refused == nil {
			ours = begin(d.member, acceptor, &d.network.judging)
		}
	})
	switch {
	case err != nil:
		return nil, err
	case theirs.refused != nil:
		return nil, theirs.refused.heardFrom(acceptor)
	}
	var link *memoryLink
	err = d.cross(ctx, ours.done, func() {
		if ours.refused != nil {
			// The listener's Close waits for the call of Refusals below.
			d.listener.running.Add(1)
			return
		}
		link = newMemoryLink(d.way, d.kind, theirs.peer, d.network.pathLocked(d.way))
		d.listener.startLocked(link)
	})
	switch {
	case err != nil:
		return nil, err
	case ours.refused != nil:
		defer d.listener.running.Done()
		if acceptor := d.listener.member; acceptor != nil {
			acceptor.Refusals(ours.refused.heardFrom(theirs.peer))
		}
		return nil, ours.refused
	}
	return link, nil
}

// cross waits until said is closed, nil standing for what is said already, and
// no black hole swallows it. Then it calls arrive, with the network's mutex
// held.
func (d *memoryDial) cross(ctx context.Context, said <-chan struct{}, arrive func()) error {
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("transport: dial from %q to %q: %w", d.way.from, d.way.to, err)
		}
		changed, unsaid, err := d.try(said, arrive)
		if changed == nil {
			return err
		}
		select {
		case <-changed:
		case <-unsaid:
		case <-ctx.Done():
		}
	}
}

// try looks once whether what is said arrives. If it may later, changed is
// closed when it is worth to look again, and so is unsaid unless it is nil.
func (d *memoryDial) try(said <-chan struct{}, arrive func()) (changed, unsaid <-chan struct{}, err error) {
	m := d.network
	m.mu.Lock()
	defer m.mu.Unlock()
	there, back := m.pathLocked(d.way), m.pathLocked(d.way.opposite())
	switch {
	case m.closed:
		return nil, nil, fmt.Errorf("%w: dial from %q to %q", ErrClosed, d.way.from, d.way.to)
	case there.isCut():
		there.count(Stats{DialsRefused: 1})
		return nil, nil, fmt.Errorf("%w: from %q to %q: cut", ErrUnreachable, d.way.from, d.way.to)
	case there.swallows() || back.swallows():
		if !d.held {
			d.held = true
			there.count(Stats{DialsHeld: 1})
		}
		return m.changed, nil, nil
	}
	ln := m.listeners[d.way.to]
	switch {
	case ln == nil || ln.closing:
		return nil, nil, fmt.Errorf("%w: from %q to %q: nobody listens there", ErrUnreachable, d.way.from, d.way.to)
	case d.listener != nil && d.listener != ln:
		return nil, nil, fmt.Errorf("%w: from %q to %q: who listened there has closed", ErrUnreachable, d.way.from, d.way.to)
	}
	d.listener = ln
	if said != nil {
		select {
		case <-said:
		default:
			return m.changed, said, nil
		}
	}
	arrive()
	return nil, nil, nil
}
