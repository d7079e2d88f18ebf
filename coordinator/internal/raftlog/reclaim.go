package raftlog

import (
	"context"
	"math"
	"sync"
)

// reclaimer gives back the disk space of removed entries when it is asked to, one
// replica after the other, in a goroutine that runs while there is something to do.
type reclaimer struct {
	store  *Store
	ctx    context.Context // ends with close, and when the store fails
	cancel context.CancelFunc
	idle   sync.WaitGroup // the goroutine, if it runs

	mu      sync.Mutex // guards what follows
	closed  bool
	running bool
	asked   map[replicaID]*reclaim
}

// reclaim is what was asked for one replica and has not begun.
type reclaim struct {
	index uint64
	done  chan struct{}
}

func newReclaimer(s *Store) *reclaimer {
	r := &reclaimer{store: s, asked: make(map[replicaID]*reclaim)}
	r.ctx, r.cancel = context.WithCancel(s.failure.well)
	return r
}

// CompactEntriesTo makes pebble rewrite what it has of the replica up to index,
// so that the disk space of removed entries comes back. It returns at once. The
// channel is closed when that has ended: also when it failed, which is logged
// because nothing is lost by it, or when it was broken off by Close or because the
// store failed.
//
// Errors: ErrClosed.
func (s *Store) CompactEntriesTo(group, replica, index uint64) (<-chan struct{}, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	return s.reclaim.ask(replicaID{group, replica}, index), nil
}

func (r *reclaimer) ask(id replicaID, index uint64) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if waiting, ok := r.asked[id]; ok {
		waiting.index = max(waiting.index, index)
		return waiting.done
	}
	task := &reclaim{index: index, done: make(chan struct{})}
	if r.closed {
		close(task.done)
		return task.done
	}
	r.asked[id] = task
	if !r.running {
		r.running = true
		r.idle.Add(1)
		go r.run()
	}
	return task.done
}

func (r *reclaimer) run() {
	defer r.idle.Done()
	for {
		id, task := r.next()
		if task == nil {
			return
		}
		if err := r.compact(id, task.index); err != nil && r.ctx.Err() == nil {
			r.store.failure.log.Error("log store could not reclaim disk space", "dir", r.store.dir, "replica", id, "cause", err)
		}
		close(task.done)
	}
}

// next takes a task. The goroutine must end when there is none.
func (r *reclaimer) next() (replicaID, *reclaim) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, task := range r.asked {
		delete(r.asked, id)
		return id, task
	}
	r.running = false
	return replicaID{}, nil
}

func (r *reclaimer) compact(id replicaID, index uint64) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	lower, upper := span(id)
	if index < math.MaxUint64 { // otherwise the replica was removed
		lower, upper = entryKey(id, 0), entryKey(id, index+1)
	}
	r.store.failure.writing.Add(1)
	defer r.store.failure.writing.Add(-1)
	return r.store.db.Compact(r.ctx, lower, upper, false)
}

// close breaks off what runs, drops what was asked, and returns when the
// goroutine has ended. It may be called more than once.
func (r *reclaimer) close() {
	r.cancel()
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.idle.Wait()
}
