package httpfence

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/palisade-go/palisade/token"
)

// Guard checks the tokens of HTTP requests. It belongs to one store, and stands
// in one process: two guards of one resource, behind a load balancer, don't
// know of each other. All methods may be called concurrently.
type Guard struct {
	store Store
	cfg   Config
	turns *turns
	// inside holds one element for each guarded request. It is never closed.
	inside chan struct{}
}

// New makes a guard. The store is not closed by it, and belongs to it alone.
// The error is token.ErrInvalid, once for each field that is wrong.
func New(store Store, cfg Config) (*Guard, error) {
	err := cfg.check()
	if store == nil {
		err = errors.Join(fmt.Errorf("%w: the store is nil", token.ErrInvalid), err)
	}
	if err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	return &Guard{
		store: store, cfg: cfg, turns: newTurns(cfg.WaitersMax), inside: make(chan struct{}, cfg.RequestsMax),
	}, nil
}

// Wrap returns a handler that lets a write through to next if its token is at
// least the greatest accepted for its resource. What else it answers, and when,
// is in the package comment. Wrapping several handlers with one Guard is how
// resources that all of them write are guarded.
func (g *Guard) Wrap(next http.Handler) http.Handler { return g.wrap(next, token.Write.Judge) }

// WrapOnce is Wrap for leases that allow one write each: it refuses a token
// that equals the greatest accepted as well.
func (g *Guard) WrapOnce(next http.Handler) http.Handler { return g.wrap(next, token.Write.JudgeOnce) }

func (g *Guard) wrap(next http.Handler, judge rule) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serve := g.serveWrite
		if g.cfg.Safe(r) {
			if len(r.Header.Values(TokenHeader)) == 0 {
				next.ServeHTTP(w, r)
				return
			}
			serve = g.serveRead
		}
		select {
		case g.inside <- struct{}{}:
			defer func() { <-g.inside }()
		default:
			kindBusy.problem("%d requests are inside", g.cfg.RequestsMax).ServeHTTP(w, r)
			return
		}
		if answer := serve(w, r, next, judge); answer != nil {
			answer.ServeHTTP(w, r)
		}
	})
}

// Accept raises the fence of w.Resource to w.Token, so that no owner before it
// writes any more. A new owner calls it before it reads. It waits for the
// resource's turn; that ends with ctx. An operation id is refused, because
// nothing is done. On failure the fence is as it was, unless the store could
// not tell: *token.StaleError, token.ErrInvalid, the context's error, or
// ErrUnavailable with the cause.
func (g *Guard) Accept(ctx context.Context, w token.Write) error {
	if err := w.Check(); err != nil {
		return err
	}
	if w.Operation != "" {
		return fmt.Errorf("%w: an operation id where nothing is done", token.ErrInvalid)
	}
	give, err := g.turns.take(ctx, w.Resource)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer give()
	return g.accept(ctx, w)
}

// accept is Accept with the turn held.
func (g *Guard) accept(ctx context.Context, w token.Write) error {
	kept, err := g.store.Load(ctx, w.Resource, "")
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if err := w.Judge(kept.Highest); err != nil {
		return err
	}
	if w.Token == kept.Highest {
		return nil
	}
	if err := g.store.Save(ctx, w.Resource, Change{Highest: w.Token}); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil
}

// Highest returns the greatest token accepted for a resource, zero if none was.
// It does not wait for a turn: the token may belong to a write that still runs.
// On failure it is ErrUnavailable with the store's error.
func (g *Guard) Highest(ctx context.Context, resource string) (token.Token, error) {
	kept, err := g.store.Load(ctx, resource, "")
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return kept.Highest, nil
}

// Forget forgets an operation, whatever is known of it: an attempt at it that
// is not stale runs again. It is for somebody who has looked at the resource
// and knows that an operation whose outcome is unknown was not done. It waits
// for the resource's turn; that ends with ctx. To forget one that is not known
// is no error.
func (g *Guard) Forget(ctx context.Context, resource string, operation token.Operation) error {
	if operation == "" {
		return fmt.Errorf("%w: no operation to forget", token.ErrInvalid)
	}
	if err := (token.Write{Resource: resource, Token: 1, Operation: operation}).Check(); err != nil {
		return err
	}
	give, err := g.turns.take(ctx, resource)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer give()
	if err := g.store.Save(ctx, resource, Change{Operation: operation}); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil
}
