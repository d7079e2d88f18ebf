package history

import (
	"context"
	"slices"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/token"
)

// Client makes calls of one goroutine and records them. Make it with
// Recorder.Client.
type Client struct {
	recorder    *Recorder
	coordinator *coordinator.Coordinator
	name        string
}

// Acquire is Coordinator.Acquire, recorded.
func (c *Client) Acquire(ctx context.Context, key string, opts ...coordinator.AcquireOption) (*Lease, error) {
	return c.one(Acquire, key, func() (*coordinator.Lease, error) { return c.coordinator.Acquire(ctx, key, opts...) })
}

// TryAcquire is Coordinator.TryAcquire, recorded.
func (c *Client) TryAcquire(ctx context.Context, key string, opts ...coordinator.AcquireOption) (*Lease, error) {
	return c.one(Try, key, func() (*coordinator.Lease, error) { return c.coordinator.TryAcquire(ctx, key, opts...) })
}

// AcquireAll is Coordinator.AcquireAll, recorded.
func (c *Client) AcquireAll(ctx context.Context, keys []string, opts ...coordinator.AcquireOption) (*Lease, error) {
	return c.all(Acquire, keys, func() (*coordinator.LeaseSet, error) { return c.coordinator.AcquireAll(ctx, keys, opts...) })
}

// TryAcquireAll is Coordinator.TryAcquireAll, recorded.
func (c *Client) TryAcquireAll(ctx context.Context, keys []string, opts ...coordinator.AcquireOption) (*Lease, error) {
	return c.all(Try, keys, func() (*coordinator.LeaseSet, error) { return c.coordinator.TryAcquireAll(ctx, keys, opts...) })
}

func (c *Client) one(kind Kind, key string, acquire func() (*coordinator.Lease, error)) (*Lease, error) {
	call := c.begin(kind, []string{key})
	lease, err := acquire()
	if err != nil {
		call.failed(err)
		return nil, err
	}
	return call.got(lease, []token.Token{lease.Token()}), nil
}

func (c *Client) all(kind Kind, keys []string, acquire func() (*coordinator.LeaseSet, error)) (*Lease, error) {
	keys = slices.Clone(keys)
	slices.Sort(keys)
	call := c.begin(kind, slices.Compact(keys))
	set, err := acquire()
	if err != nil {
		call.failed(err)
		return nil, err
	}
	tokens := make([]token.Token, len(call.Keys))
	for i, key := range call.Keys {
		tokens[i], _ = set.Token(key)
	}
	return call.got(set, tokens), nil
}

// call is an acquire that has not returned.
type call struct {
	Record
	client *Client
	number uint64
}

// begin notes that an acquire is about to be made, for keys that are sorted and
// distinct.
func (c *Client) begin(kind Kind, keys []string) call {
	r := Record{Kind: kind, Client: c.name, Keys: keys}
	number := c.recorder.begin(r)
	r.Call = Now()
	return call{r, c, number}
}

func (c call) failed(err error) {
	c.Outcome = outcome(err)
	c.Return = returned(c.Outcome)
	c.client.recorder.finish(c.number, c.Record)
}

// got records a grant. Keys of several groups are granted one after the other;
// at the moment of the last grant all of them are the caller's.
func (c call) got(held handle, tokens []token.Token) *Lease {
	l := &Lease{held: held, client: c.client, keys: c.Keys, tokens: tokens, trusted: Now()}
	c.Outcome, c.Tokens, c.Return = Done, tokens, l.trusted
	r := c.client.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[l] = struct{}{}
	if r.journal == nil {
		r.records = append(r.records, c.Record)
		return l
	}
	for range l.keys {
		l.ends = append(l.ends, r.journal.next())
	}
	// In one line: a grant without an end would be one that never ends.
	r.journal.put(append(line{{c.number, c.Record}}, l.entries(Unknown)...))
	return l
}
