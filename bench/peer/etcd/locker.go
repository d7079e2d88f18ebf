package etcd

import (
	"context"
	"errors"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"

	"github.com/palisade-go/palisade/bench/crew"
)

// locker takes keys with a session of its own.
type locker struct {
	session *concurrency.Session
	held    []*concurrency.Mutex
}

// newClient connects to one member. It logs nothing: what fails is returned too.
func newClient(address string) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{Endpoints: []string{address}, DialTimeout: startMax, Logger: zap.NewNop()})
}

// Dial opens a locker at a member, with a client of its own.
func Dial(_ context.Context, address string, ttl time.Duration) (crew.Locker, error) {
	client, err := newClient(address)
	if err != nil {
		return nil, err
	}
	return openLocker(client, ttl)
}

func openLocker(client *clientv3.Client, ttl time.Duration) (*locker, error) {
	session, err := concurrency.NewSession(client, concurrency.WithTTL(int(ttl/time.Second)))
	if err != nil {
		return nil, err
	}
	return &locker{session: session}, nil
}

// Acquire takes several keys one after the other: the recipe has no other way.
func (l *locker) Acquire(ctx context.Context, keys []string) error {
	for _, key := range keys {
		mutex := concurrency.NewMutex(l.session, "/"+key)
		if err := mutex.Lock(ctx); err != nil {
			return err
		}
		l.held = append(l.held, mutex)
	}
	return nil
}

func (l *locker) Release(ctx context.Context) error {
	var errs []error
	for _, mutex := range slices.Backward(l.held) {
		errs = append(errs, mutex.Unlock(ctx))
	}
	l.held = l.held[:0]
	return errors.Join(errs...)
}

func (l *locker) Close() error { return l.session.Close() }
