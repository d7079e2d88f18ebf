package zookeeper

import (
	"context"
	"errors"
	"path"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// The lock of ZooKeeper's documentation: an ephemeral node with a number below
// the key; the least number has the key, every other one watches the one before
// it. The client's own zk.Lock does the same, but gives up when the connection
// is lost and leaves its node behind, which then stands in line before its next
// attempt.

// tryAgain is the pause before a request is repeated whose connection was lost.
const tryAgain = 5 * time.Millisecond

// steadily repeats a request that may be made twice, as long as the session may
// live.
func (l *locker) steadily(ctx context.Context, request func() error) error {
	for {
		err := request()
		if !errors.Is(err, zk.ErrConnectionClosed) && !errors.Is(err, zk.ErrNoServer) {
			return err
		}
		timer := time.NewTimer(tryAgain)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
	}
}

// enter makes a node below a key, and the key if it is not there.
func (l *locker) enter(ctx context.Context, key string) (string, error) {
	everybody := zk.WorldACL(zk.PermAll)
	for {
		// It finds the node again that it made before it lost its connection.
		node, err := l.conn.CreateProtectedEphemeralSequential(key+"/lock-", nil, everybody)
		if !errors.Is(err, zk.ErrNoNode) {
			return node, err
		}
		for at := range key {
			if at == 0 || key[at] != '/' {
				continue
			}
			if err := l.make(ctx, key[:at]); err != nil {
				return "", err
			}
		}
		if err := l.make(ctx, key); err != nil {
			return "", err
		}
	}
}

// make makes a node that stays, unless somebody else has.
func (l *locker) make(ctx context.Context, name string) error {
	err := l.steadily(ctx, func() error {
		_, err := l.conn.Create(name, nil, 0, zk.WorldACL(zk.PermAll))
		return err
	})
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

// wait returns when nobody is before a node.
func (l *locker) wait(ctx context.Context, node string) error {
	for {
		before, err := l.before(ctx, node)
		if err != nil || before == "" {
			return err
		}
		var exists bool
		var gone <-chan zk.Event
		err = l.steadily(ctx, func() (err error) {
			exists, _, gone, err = l.conn.ExistsW(before)
			return err
		})
		if err != nil {
			return err
		}
		if !exists {
			continue
		}
		select {
		case <-gone: // or the connection; look again
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// before returns the node with the greatest number below that of a node, "" if
// it is the first.
func (l *locker) before(ctx context.Context, node string) (string, error) {
	key := path.Dir(node)
	var names []string
	err := l.steadily(ctx, func() (err error) {
		names, _, err = l.conn.Children(key)
		return err
	})
	if err != nil {
		return "", err
	}
	mine, last := number(node), ""
	there := false
	for _, name := range names {
		there = there || name == path.Base(node)
		if n := number(name); n < mine && (last == "" || n > number(last)) {
			last = name
		}
	}
	if !there {
		return "", zk.ErrSessionExpired // it went with it
	}
	if last == "" {
		return "", nil
	}
	return key + "/" + last, nil
}

// number is the number that the server has put behind a node's name. All have
// the same length.
func number(node string) string { return node[strings.LastIndexByte(node, '-')+1:] }
