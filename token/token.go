package token

import "fmt"

// Token is the fencing token of a grant. Zero means none. Tokens of one lock
// key compare with <; tokens of different lock keys do not compare.
type Token uint64

// The bits of a token. Part of every stored form; never change them.
const (
	counterBits = 53
	epochBits   = 10
)

const (
	// EpochMax is the last epoch, 1023.
	EpochMax uint64 = 1<<epochBits - 1
	// CounterMax is the last counter of an epoch, 2^53-1. A group that grants
	// a million leases a second reaches it after 285 years.
	CounterMax uint64 = 1<<counterBits - 1
)

// valueMax is the greatest token: bit 63 stays zero.
const valueMax = EpochMax<<counterBits | CounterMax

// New makes the token of an epoch and a counter. The error matches ErrInvalid;
// when epoch is above EpochMax or counter above CounterMax it matches
// ErrExhausted too. Counter 0 is refused: it belongs to no grant.
func New(epoch, counter uint64) (Token, error) {
	switch {
	case epoch > EpochMax:
		return 0, fmt.Errorf("%w: epoch %d is above %d: %w", ErrInvalid, epoch, EpochMax, ErrExhausted)
	case counter > CounterMax:
		return 0, fmt.Errorf("%w: counter %d is above %d: %w", ErrInvalid, counter, CounterMax, ErrExhausted)
	case counter == 0:
		return 0, fmt.Errorf("%w: counter 0 belongs to no grant", ErrInvalid)
	}
	return Token(epoch<<counterBits | counter), nil
}

// Epoch returns the epoch, 0..EpochMax.
func (t Token) Epoch() uint64 { return uint64(t) >> counterBits & EpochMax }

// Counter returns the counter, 0..CounterMax.
func (t Token) Counter() uint64 { return uint64(t) & CounterMax }

// IsZero says whether t is none.
func (t Token) IsZero() bool { return t == 0 }

// Valid says whether t can be the token of a grant: bit 63 is zero and the
// counter is not. Zero is not valid.
func (t Token) Valid() bool { return t.check() == nil }

// Next returns the token of the next grant in the same epoch. It returns
// ErrExhausted after the last counter: going on into the next epoch would take
// it from the operator, who has to raise the epoch above all ever used. It
// returns ErrInvalid when t itself is not valid.
func (t Token) Next() (Token, error) {
	if err := t.check(); err != nil {
		return 0, err
	}
	if t.Counter() == CounterMax {
		return 0, fmt.Errorf("%w: token %s has the last counter of epoch %d", ErrExhausted, t, t.Epoch())
	}
	return t + 1, nil
}

// check returns nil for the token of a grant and otherwise says what is wrong.
func (t Token) check() error {
	if t == 0 {
		return fmt.Errorf("%w: 0 means none", ErrInvalid)
	}
	return t.checkOrNone()
}

// checkOrNone is check for the places where none is an answer: columns, JSON
// fields, records.
func (t Token) checkOrNone() error {
	switch {
	case uint64(t) > valueMax:
		return fmt.Errorf("%w: %s needs more than 63 bits", ErrInvalid, t)
	case t != 0 && t.Counter() == 0:
		return fmt.Errorf("%w: %s has counter 0, which belongs to no grant", ErrInvalid, t)
	}
	return nil
}
