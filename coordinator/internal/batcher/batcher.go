package batcher

import (
	"errors"
	"fmt"
	"slices"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/statemachine"
)

// Limits of what is in flight.
const (
	FlightsMax  = 4
	CommandsMax = 1024
	BytesMax    = 256 << 10
)

// Identity is what every batch of this incarnation says of its sender.
type Identity struct {
	Node        statemachine.NodeID
	Directory   statemachine.DirectoryID
	Incarnation statemachine.Incarnation
}

// Flight is a batch that was sent and is not settled.
type Flight struct {
	Number   statemachine.BatchNumber
	Commands []statemachine.Command
	Data     []byte // the log entry; the same for every attempt
	// FirstSend is when the batch was cut, before its first attempt was
	// handed to the engine. A retry never moves it: the group may have
	// applied the first attempt.
	FirstSend clock.Instant
	Attempt   int           // number of the latest attempt, from 1
	RetryAt   clock.Instant // when that attempt counts as failed
}

// Batcher holds the pending commands and the flights of one group.
type Batcher struct {
	identity Identity
	next     statemachine.BatchNumber
	flights  []*Flight // by number, rising
	// endings and acquires are what waits to be cut, each in its order. Endings
	// go first: so what a node gives back is never behind what it asks for next,
	// also when the batch with it had to be sent again under another number.
	// acquires has those that were withdrawn since, too: they are not in wanted.
	endings   []statemachine.Command
	acquires  []statemachine.Command
	wanted    map[statemachine.Seq]struct{}
	withdrawn int // how many of acquires
	// settled is the highest number seen applied, settledSend its FirstSend.
	settled     statemachine.BatchNumber
	settledSend clock.Instant
}

// New returns a Batcher whose first batch has number 1.
func New(identity Identity) *Batcher {
	return &Batcher{identity: identity, next: 1, wanted: map[statemachine.Seq]struct{}{}}
}

// Add puts a command in line for the next batch, behind those of its kind.
func (b *Batcher) Add(c statemachine.Command) {
	if Ending(c) {
		b.endings = append(b.endings, c)
		return
	}
	b.acquires = append(b.acquires, c)
	if a, ok := c.(statemachine.Acquire); ok {
		b.wanted[a.Seq] = struct{}{}
	}
}

// Ending reports whether a command only ever gives something up. Those may
// use new numbers even when a node has lost sight of the group.
func Ending(c statemachine.Command) bool {
	switch c.(type) {
	case statemachine.Release, statemachine.Cancel, statemachine.Leave:
		return true
	}
	return false
}

// Withdraw takes a pending Acquire out again, and reports whether it was
// still pending: if so, the group never hears of it. It costs the same
// however many are pending, on average: while a group is silent all its
// callers give up one by one.
func (b *Batcher) Withdraw(seq statemachine.Seq) bool {
	if _, ok := b.wanted[seq]; !ok {
		return false
	}
	delete(b.wanted, seq)
	b.withdrawn++
	if b.withdrawn > len(b.acquires)/2 {
		b.acquires = slices.DeleteFunc(b.acquires, b.isWithdrawn)
		b.withdrawn = 0
		b.shrink()
	}
	return true
}

func (b *Batcher) isWithdrawn(c statemachine.Command) bool {
	a, ok := c.(statemachine.Acquire)
	if !ok {
		return false
	}
	_, wanted := b.wanted[a.Seq]
	return !wanted
}

// shrink gives the memory of a burst back when nothing is left of it.
func (b *Batcher) shrink() {
	if len(b.endings) == 0 {
		b.endings = nil
	}
	if len(b.acquires) == 0 {
		b.acquires, b.wanted = nil, map[statemachine.Seq]struct{}{}
	}
}

// DropPending forgets all that was not cut yet.
func (b *Batcher) DropPending() {
	b.endings, b.acquires, b.withdrawn = nil, nil, 0
	b.shrink()
}

// Pending returns how many commands wait to be cut.
func (b *Batcher) Pending() int { return len(b.endings) + len(b.acquires) - b.withdrawn }

// Flights returns what is in flight, by rising number. The slice is valid
// until the next call that changes the Batcher.
func (b *Batcher) Flights() []*Flight { return b.flights }

// Next returns the number that the next cut will get.
func (b *Batcher) Next() statemachine.BatchNumber { return b.next }

// Room reports whether another batch may be in flight.
func (b *Batcher) Room() bool { return len(b.flights) < FlightsMax }

// Cut makes the next batch of pending commands, as many as fit; with none
// pending it makes an empty one, which renews. With endingsOnly it leaves the
// Acquires pending. The flight counts as sent from now on. An error says that the
// batch could not be encoded; its commands are dropped, since they never will be.
func (b *Batcher) Cut(now clock.Instant, wall int64, endingsOnly bool) (*Flight, error) {
	commands := b.take(endingsOnly)
	data, err := statemachine.AppendBatch(nil, statemachine.Batch{
		Node:        b.identity.Node,
		Directory:   b.identity.Directory,
		Incarnation: b.identity.Incarnation,
		Number:      b.next,
		Speaks:      statemachine.Binary,
		Wall:        wall,
		Commands:    commands,
	})
	if err != nil {
		return nil, fmt.Errorf("batch %d: %w", b.next, err)
	}
	f := &Flight{Number: b.next, Commands: commands, Data: data, FirstSend: now}
	b.next++
	b.flights = append(b.flights, f)
	return f, nil
}

// take removes the commands of one batch from the pending ones.
func (b *Batcher) take(endingsOnly bool) []statemachine.Command {
	var taken []statemachine.Command
	size := 0
	// from takes of one list until the batch is full.
	from := func(list []statemachine.Command) []statemachine.Command {
		looked := 0
		for _, c := range list {
			if len(taken) == CommandsMax || size >= BytesMax {
				break
			}
			looked++
			if b.isWithdrawn(c) {
				b.withdrawn--
				continue
			}
			if a, ok := c.(statemachine.Acquire); ok {
				delete(b.wanted, a.Seq)
			}
			taken = append(taken, c)
			size += sizeOf(c)
		}
		return slices.Delete(list, 0, looked)
	}
	b.endings = from(b.endings)
	if !endingsOnly {
		b.acquires = from(b.acquires)
	}
	b.shrink()
	return taken
}

// HasEnding reports whether a Release, Cancel or Leave is pending.
func (b *Batcher) HasEnding() bool { return len(b.endings) > 0 }

// sizeOf is about how many bytes a command takes in a log entry.
func sizeOf(c statemachine.Command) int {
	const frame = 48
	a, ok := c.(statemachine.Acquire)
	if !ok {
		return frame
	}
	size := 2*frame + len(a.RequestID) + len(a.Metadata)
	for _, claim := range a.Claims {
		size += len(claim.Key) + 8
	}
	return size
}

// ErrNotSent says that the group applied a number that was never sent here:
// another process speaks under this identity.
var ErrNotSent = errors.New("a batch number was applied that this node never sent")

// Settle notes that a number was seen applied. It returns the flight of it
// and the dead flights before it, by rising number. The flight is nil when
// the number was settled before.
func (b *Batcher) Settle(number statemachine.BatchNumber) (applied *Flight, dead []*Flight, err error) {
	covered, err := b.Cover(number)
	if n := len(covered); n > 0 && covered[n-1].Number == number {
		return covered[n-1], covered[:n-1], nil
	}
	return nil, covered, err
}

// Cover removes and returns all flights up to a number, by rising number:
// for a state in which the batch with that number is the last one applied.
// Which of those before it took effect, the state has to tell. A number that
// was never cut is ErrNotSent.
func (b *Batcher) Cover(number statemachine.BatchNumber) ([]*Flight, error) {
	if number >= b.next {
		return nil, fmt.Errorf("%w: number %d, the last one sent is %d", ErrNotSent, number, b.next-1)
	}
	n := 0
	for n < len(b.flights) && b.flights[n].Number <= number {
		if f := b.flights[n]; f.Number == number {
			b.settled, b.settledSend = f.Number, f.FirstSend
		}
		n++
	}
	covered := slices.Clone(b.flights[:n])
	b.flights = slices.Delete(b.flights, 0, n) // keeps no pointer to what has gone
	return covered, nil
}

// FirstSend returns when a number was first sent, for a flight or for the
// last number settled; false for any other, whose time is not kept.
func (b *Batcher) FirstSend(number statemachine.BatchNumber) (clock.Instant, bool) {
	if number == b.settled && number != 0 {
		return b.settledSend, true
	}
	for _, f := range b.flights {
		if f.Number == number {
			return f.FirstSend, true
		}
	}
	return 0, false
}
