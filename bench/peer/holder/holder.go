package holder

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/palisade-go/palisade/bench/crew"
	"github.com/palisade-go/palisade/bench/member"
	"github.com/palisade-go/palisade/bench/peer"
)

// Role is what a holder's process is started as.
const Role = "holder"

// dialMax bounds how long a holder waits for its server and its key.
const dialMax = time.Minute

// Dialer opens a Locker at a server.
type Dialer func(ctx context.Context, address string, ttl time.Duration) (crew.Locker, error)

// Client is the service of a holder's process.
type Client struct {
	dialers map[string]Dialer
	locker  crew.Locker
}

// NewClient makes a client that knows how to reach some peers, by name.
func NewClient(dialers map[string]Dialer) member.Service { return &Client{dialers: dialers} }

// Lock is what a holder is to hold, and where.
type Lock struct {
	Peer, Address, Key string
	TTL                time.Duration
}

// Hold takes a key and keeps it.
func (c *Client) Hold(l Lock, _ *member.Nothing) error {
	dial := c.dialers[l.Peer]
	if dial == nil {
		return fmt.Errorf("holder: no client for %q", l.Peer)
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialMax)
	defer cancel()
	locker, err := dial(context.Background(), l.Address, l.TTL)
	if err != nil {
		return err
	}
	c.locker = locker
	return locker.Acquire(ctx, []string{l.Key})
}

// Close gives nothing back: a holder is there to be killed.
func (c *Client) Close() error { return nil }

// holder implements peer.Holder.
type holder struct {
	process *member.Process
	site    peer.Site
}

// Start starts a holder, and returns when it has its key. Whoever waits for the
// key is at the site.
func Start(ctx context.Context, dir string, l Lock, site peer.Site) (peer.Holder, error) {
	process, err := member.StartRole(dir, "holder", Role)
	if err != nil {
		return nil, err
	}
	if err := process.Call(ctx, "Hold", l, &member.Nothing{}); err != nil {
		return nil, errors.Join(err, process.Kill())
	}
	return &holder{process, site}, nil
}

func (h *holder) Site() peer.Site               { return h.site }
func (h *holder) Kill() error                   { return h.process.Kill() }
func (h *holder) Restore(context.Context) error { return nil }
