package transport

import (
	"context"
	"fmt"
	"io"
	"sync"
)

// Join returns the network as one member sees it. Where it listens and what it
// dials carries its hello, and both sides of a dial judge one another as they
// do over TCP. The addresses given to Listen and Dial stay what faults go by.
// A member and a side that never joined, which says no hello, refuse each
// other.
//
// Closing the network ends what all members have in it. The error is
// ErrInvalid and names every problem of the member.
func (m *Memory) Join(member Member) (Network, error) {
	if err := member.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	member = member.withDefaults()
	return &memoryMember{network: m, member: &member}, nil
}

// memoryMember is a Memory as a member sees it.
type memoryMember struct {
	network *Memory
	member  *Member
}

var _ Network = (*memoryMember)(nil)

// Listen implements Network.
func (v *memoryMember) Listen(addr string, h Handler) (io.Closer, error) {
	return v.network.listen(addr, h, v.member)
}

// Dial implements Network. See Memory.Dial; it also waits for Admit of both
// sides, for at most as long as ctx. Refusals by either side are RefusedErrors,
// which Refusals of the accepting side has had when it returns.
func (v *memoryMember) Dial(ctx context.Context, from, to string, kind Kind) (Link, error) {
	return v.network.dial(ctx, direction{from: from, to: to}, kind, v.member)
}

// says returns the hello of a member, the zero one if it never joined.
func (m *Member) says() Hello {
	if m == nil {
		return Hello{}
	}
	return m.Self
}

// judgement is what one side finds about the other, on its way.
type judgement struct {
	peer Peer // who is judged; its Version is set when done
	// done is closed by the goroutine that begin starts.
	done    chan struct{}
	refused *RefusedError // nil when the answer is yes; set when done
}

// begin returns the judgement of a member about a peer and does not wait for
// it. One that never joined takes everybody. running counts the goroutine.
func begin(own *Member, peer Peer, running *sync.WaitGroup) *judgement {
	j := &judgement{peer: peer, done: make(chan struct{})}
	if own == nil {
		close(j.done)
		return j
	}
	running.Add(1)
	go func() {
		defer running.Done()
		defer close(j.done)
		if peer.Hello == (Hello{}) {
			j.refused = refuse(peer, CodeHandshake, "it says no hello")
		} else {
			j.refused = own.judge(&j.peer)
		}
		if j.refused != nil && peer.Accepted {
			own.Refusals(j.refused)
		}
	}()
	return j
}
