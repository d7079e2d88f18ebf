package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/httpfence"
)

const (
	lockKey = "report"
	// holdMax ends a lease, as a pause of its process would: it stands for the
	// TTL, so that the story does not have to wait for one.
	holdMax = time.Second
)

// A worker's lease is what a Transport needs.
var _ httpfence.Lease = (*coordinator.Lease)(nil)

// worker writes the document while it owns the lock.
type worker struct {
	lease  *coordinator.Lease
	client *http.Client
	path   *http.Transport // its connections
}

// hire takes the lock for a worker.
func (s *story) hire(ctx context.Context, options ...coordinator.AcquireOption) (*worker, error) {
	lease, err := s.locks.Acquire(ctx, lockKey, options...)
	if err != nil {
		return nil, err
	}
	w := &worker{lease: lease, path: &http.Transport{}}
	w.use(nil)
	return w, nil
}

// use puts a network between the worker and its connections; nil leaves the way
// free.
func (w *worker) use(network func(http.RoundTripper) http.RoundTripper) {
	var base http.RoundTripper = w.path
	if network != nil {
		base = network(base)
	}
	w.client = &http.Client{Transport: &httpfence.Transport{Base: base, Lease: w.lease}}
}

// dismiss gives back what a worker has.
func (w *worker) dismiss(ctx context.Context) error {
	w.path.CloseIdleConnections()
	if err := w.lease.Release(ctx); err != nil && !errors.Is(err, coordinator.ErrLeaseLost) {
		return err
	}
	return nil
}

// request is one request to the document, and what it is an attempt at.
type request struct {
	method, text string
	operation    token.Operation // none if empty
}

// send sends the request to the service or gateway at base and returns what the
// document is then.
func (w *worker) send(ctx context.Context, base string, r request) (string, token.Receipt, error) {
	if r.operation != "" {
		ctx = httpfence.WithOperation(ctx, r.operation)
	}
	req, err := r.to(ctx, base)
	if err != nil {
		return "", token.Receipt{}, err
	}
	return answer(w.client.Do(req))
}

// sendCopy sends a request as something on the way does that has kept a copy:
// with the worker's token, and without asking its lease.
func (w *worker) sendCopy(ctx context.Context, base string, r request) error {
	req, err := r.to(ctx, base)
	if err != nil {
		return err
	}
	req.Header.Set(httpfence.TokenHeader, w.lease.Token().String())
	_, _, err = answer(w.path.RoundTrip(req))
	return err
}

// to makes the request that is sent to base.
func (r request) to(ctx context.Context, base string) (*http.Request, error) {
	return http.NewRequestWithContext(ctx, r.method, base+documentPath, strings.NewReader(r.text))
}

// answer reads an answer. Its error is the guard's refusal, if it is one.
func answer(resp *http.Response, err error) (text string, receipt token.Receipt, _ error) {
	if err != nil {
		return "", token.Receipt{}, err
	}
	defer resp.Body.Close()
	if err := httpfence.Error(resp); err != nil {
		return "", token.Receipt{}, err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", token.Receipt{}, err
	}
	if resp.StatusCode != http.StatusOK {
		return "", token.Receipt{}, fmt.Errorf("status %d: %s", resp.StatusCode, body)
	}
	receipt, err = httpfence.ReceiptOf(resp)
	return string(body), receipt, err
}

// loss waits until the worker's lease has ended without its doing.
func (w *worker) loss(ctx context.Context) error {
	if _, err := await(ctx, "the loss of the lease", w.lease.Done()); err != nil {
		return err
	}
	if err := w.lease.Err(); !errors.Is(err, coordinator.ErrLeaseLost) {
		return fmt.Errorf("the lease should be lost, but: %w", err)
	}
	return nil
}

// lateWrite is a write that was sent in time and arrives too late.
type lateWrite struct {
	network *heldUp
	done    chan error // of the write
}

// sendLate has the worker send a write that is held up on its way.
func (w *worker) sendLate(ctx context.Context, base string, r request) (*lateWrite, error) {
	late := &lateWrite{done: make(chan error, 1)}
	w.use(func(base http.RoundTripper) http.RoundTripper {
		late.network = newHeldUp(base)
		return late.network
	})
	if err := w.lease.Err(); err != nil {
		return nil, fmt.Errorf("the write should be sent while the lock is owned: %w", err)
	}
	go func() {
		_, _, err := w.send(ctx, base, r)
		late.done <- err
	}()
	_, err := await(ctx, "the write to be on its way", late.network.onWay)
	return late, err
}

// arrive lets the write arrive and returns what became of it.
func (l *lateWrite) arrive(ctx context.Context) error {
	close(l.network.arrive)
	err, gaveUp := await(ctx, "the answer to the late write", l.done)
	return errors.Join(err, gaveUp)
}
