package redis

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	goredis9 "github.com/redis/go-redis/v9"

	"github.com/palisade-go/palisade/bench/crew"
)

// locker takes keys with a connection of its own.
type locker struct {
	client *goredis9.Client
	sync   *redsync.Redsync
	ttl    time.Duration
	held   []*redsync.Mutex
}

// Dial opens a locker at a server, and its connection.
func Dial(ctx context.Context, address string, ttl time.Duration) (crew.Locker, error) {
	client := goredis9.NewClient(&goredis9.Options{Addr: address, PoolSize: 1})
	if err := client.Ping(ctx).Err(); err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return &locker{client: client, sync: redsync.New(goredis.NewPool(client)), ttl: ttl}, nil
}

// Acquire takes several keys one after the other: redsync has no other way. It
// goes on asking as long as it takes.
func (l *locker) Acquire(ctx context.Context, keys []string) error {
	for _, key := range keys {
		mutex := l.sync.NewMutex(key, redsync.WithExpiry(l.ttl), redsync.WithTries(math.MaxInt32))
		if err := mutex.LockContext(ctx); err != nil {
			return err
		}
		l.held = append(l.held, mutex)
	}
	return nil
}

func (l *locker) Release(ctx context.Context) error {
	var errs []error
	for _, mutex := range slices.Backward(l.held) {
		ok, err := mutex.UnlockContext(ctx)
		if err == nil && !ok {
			err = errors.New("the lock was not held any more")
		}
		errs = append(errs, err)
	}
	l.held = l.held[:0]
	return errors.Join(errs...)
}

func (l *locker) Close() error { return l.client.Close() }
