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
	call := now()
	lease, err := acquire()
	if err != nil {
		c.failed(kind, []string{key}, call, err)
		return nil, err
	}
	return c.got(kind, call, lease, []string{key}, []token.Token{lease.Token()}), nil
}

func (c *Client) all(kind Kind, keys []string, acquire func() (*coordinator.LeaseSet, error)) (*Lease, error) {
	call := now()
	set, err := acquire()
	if err != nil {
		keys = slices.Clone(keys)
		slices.Sort(keys)
		c.failed(kind, slices.Compact(keys), call, err)
		return nil, err
	}
	keys = set.Keys()
	tokens := make([]token.Token, len(keys))
	for i, key := range keys {
		tokens[i], _ = set.Token(key)
	}
	return c.got(kind, call, set, keys, tokens), nil
}

func (c *Client) failed(kind Kind, keys []string, call Instant, err error) {
	o := outcome(err)
	c.recorder.Add(Record{Kind: kind, Outcome: o, Client: c.name, Keys: keys, Call: call, Return: returned(o)})
}

// got records a grant. Keys of several groups are granted one after the other;
// at the moment of the last grant all of them are the caller's.
func (c *Client) got(kind Kind, call Instant, held handle, keys []string, tokens []token.Token) *Lease {
	l := &Lease{held: held, client: c, keys: keys, tokens: tokens}
	l.trusted = now()
	c.recorder.Add(Record{
		Kind: kind, Outcome: Done, Client: c.name, Keys: keys, Tokens: tokens, Call: call, Return: l.trusted,
	})
	c.recorder.mu.Lock()
	defer c.recorder.mu.Unlock()
	c.recorder.open[l] = struct{}{}
	return l
}
