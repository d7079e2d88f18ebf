package history

import (
	"context"
	"errors"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/token"
)

// handle is what a Lease and a LeaseSet of the coordinator have in common here.
type handle interface {
	Context() context.Context
	Done() <-chan struct{}
	Err() error
	Release(context.Context) error
}

var (
	_ handle = (*coordinator.Lease)(nil)
	_ handle = (*coordinator.LeaseSet)(nil)
)

// Lease is a lease, or a set, that is recorded. Its methods are for one
// goroutine at a time.
type Lease struct {
	held    handle
	client  *Client
	keys    []string
	tokens  []token.Token
	trusted Instant  // the holder is known to have trusted it then; Recorder.mu guards it
	ends    []uint64 // the numbers of its ends in the journal, one a key
}

// Context is the lease's own.
func (l *Lease) Context() context.Context { return l.held.Context() }

// Done is the lease's own.
func (l *Lease) Done() <-chan struct{} { return l.held.Done() }

// Err is the lease's own. That it is nil, so that the lease is trusted at this
// moment, is recorded.
func (l *Lease) Err() error {
	asked := Now()
	err := l.held.Err()
	if err == nil {
		r := l.client.recorder
		r.mu.Lock()
		defer r.mu.Unlock()
		l.trusted = asked
		if _, open := r.open[l]; open && r.journal != nil {
			r.journal.put(l.entries(Unknown))
		}
	}
	return err
}

// entries are the ends for the journal.
func (l *Lease) entries(o Outcome) line {
	var entries line
	for i, end := range l.ending(o) {
		entries = append(entries, entry{l.ends[i], end})
	}
	return entries
}

// Held reports whether Err is nil, and is recorded likewise.
func (l *Lease) Held() bool { return l.Err() == nil }

// Token returns the token of a key; zero if it is none of the lease's.
func (l *Lease) Token(key string) token.Token {
	for i, k := range l.keys {
		if k == key {
			return l.tokens[i]
		}
	}
	return 0
}

// Release is the lease's own, recorded as its end.
func (l *Lease) Release(ctx context.Context) error {
	call := Now()
	err := l.held.Release(ctx)
	r := l.client.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, open := r.open[l]; !open {
		return err
	}
	delete(r.open, l)
	o := Done
	switch {
	case errors.Is(err, coordinator.ErrLeaseLost):
		o = Unknown // the group may end it at any time after it was last trusted
	case err != nil:
		o, l.trusted = Unknown, call
	default:
		l.trusted = call
	}
	if r.journal != nil {
		r.journal.put(l.entries(o))
		return err
	}
	r.records = append(r.records, l.ending(o)...)
	return err
}

// ending returns the End of each key: those of several groups end one after the
// other.
func (l *Lease) ending(o Outcome) []Record {
	var ends []Record
	until := returned(o)
	for i, key := range l.keys {
		ends = append(ends, Record{
			Kind: End, Outcome: o, Client: l.client.name, Keys: []string{key}, Tokens: []token.Token{l.tokens[i]},
			Call: l.trusted, Return: until,
		})
	}
	return ends
}
