package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/palisade-go/palisade/bench/crew"
)

// locker takes keys with a session of its own.
type locker struct {
	address string
	ttl     time.Duration
	conn    *zk.Conn // nil: the session is given up
	held    []string // the nodes, in the order in which they were made
}

// Dial opens a locker at a server.
func Dial(ctx context.Context, address string, ttl time.Duration) (crew.Locker, error) {
	l := &locker{address: address, ttl: ttl}
	return l, l.connect(ctx)
}

// quiet swallows what the client logs.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

func (l *locker) connect(ctx context.Context) error {
	conn, events, err := zk.Connect([]string{l.address}, l.ttl, zk.WithLogger(quiet{}))
	if err != nil {
		return err
	}
	for {
		select {
		case event := <-events:
			if event.State == zk.StateHasSession {
				l.conn = conn
				return nil
			}
		case <-ctx.Done():
			conn.Close()
			return fmt.Errorf("no session at %s: %w", l.address, context.Cause(ctx))
		}
	}
}

// Acquire takes several keys one after the other: the recipe has no other way.
func (l *locker) Acquire(ctx context.Context, keys []string) error {
	if l.conn == nil {
		if err := l.connect(ctx); err != nil {
			return err
		}
	}
	for _, key := range keys {
		node, err := l.enter(ctx, "/"+key)
		if err != nil {
			return errors.Join(err, l.Close()) // there may be a node that is not known
		}
		l.held = append(l.held, node)
		if err := l.wait(ctx, node); err != nil {
			return errors.Join(err, l.Release(ctx))
		}
	}
	return nil
}

// Release deletes the nodes.
func (l *locker) Release(ctx context.Context) error {
	for _, node := range slices.Backward(l.held) {
		err := l.steadily(ctx, func() error { return l.conn.Delete(node, -1) })
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return errors.Join(err, l.Close())
		}
	}
	l.held = nil
	return nil
}

// Close ends the session, and with it all that it has.
func (l *locker) Close() error {
	if l.conn != nil {
		l.conn.Close()
	}
	l.conn, l.held = nil, nil
	return nil
}
