package torture

import (
	"errors"
	"fmt"
	"time"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest/history"
)

// obey does what the parent wants, however long it takes: the parent has the
// limit.
func (w *worker) obey(o order) {
	switch o.what {
	case toTurn:
		w.page, w.client = o.page, o.page.recorder.Client(w.crew.node.node)
		o.done <- answer{}
	case toProgress:
		o.done <- w.ownAll()
		w.pauseUntil(o.goOn) // so that it is in nobody's way who is slower
	case toPoise:
		w.poise(o)
	}
}

// ownAll owns a key of every group, one after the other, and says for which it
// had to wait longest.
func (w *worker) ownAll() answer {
	a := answer{}
	for _, i := range w.random.Perm(len(w.page.keys.byGroup)) {
		key := w.page.keys.byGroup[i]
		began := time.Now()
		lease, err := w.insist(key)
		if err != nil {
			a.err = err
			return a
		}
		if took := time.Since(began); took > a.slowest.Took {
			a.slowest = Turnabout{w.crew.node.number, w.number, i + 1, took}
		}
		w.write(lease, []string{key})
		w.release(lease)
	}
	return a
}

// insist acquires a key, and asks again when the group does not answer.
func (w *worker) insist(key string) (*history.Lease, error) {
	for {
		lease, err := w.client.Acquire(w.crew.life, key)
		switch {
		case err == nil:
			return lease, nil
		case errors.Is(err, coordinator.ErrUnavailable) && w.crew.life.Err() == nil:
			w.wait(w.crew.life, 50*time.Millisecond)
		case errors.Is(err, coordinator.ErrLeaseLost):
		default:
			return nil, fmt.Errorf("node %d, worker %d: %w", w.crew.node.number, w.number, err)
		}
	}
}

// poise takes a key and writes, and when it may go on it writes again without a
// look at the lease.
func (w *worker) poise(o order) {
	keys := w.page.keys.byGroup
	key := keys[(w.page.generation+w.number)%len(keys)] // not that of the other ones who are poised
	lease, err := w.insist(key)
	if err != nil {
		o.done <- answer{err: err}
		return
	}
	w.write(lease, []string{key})
	o.done <- answer{poised: Poised{key, lease.Token(key)}}
	w.pauseUntil(o.goOn)
	w.write(lease, []string{key})
	w.release(lease)
}

// pauseUntil waits until the parent lets the workers go on.
func (w *worker) pauseUntil(goOn <-chan struct{}) {
	select {
	case <-goOn:
	case <-w.crew.life.Done():
	}
}
