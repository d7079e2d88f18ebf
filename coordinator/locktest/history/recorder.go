package history

import (
	"errors"
	"fmt"
	"sync"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/token"
)

// Recorder collects records. It is safe for concurrent use.
type Recorder struct {
	mu      sync.Mutex
	records []Record
	open    map[*Lease]struct{} // leases without an End
	clients int
}

// NewRecorder returns a Recorder with no records.
func NewRecorder() *Recorder { return &Recorder{open: map[*Lease]struct{}{}} }

func now() Instant { return Instant(clock.System{}.Now()) }

// Add takes a record that was made elsewhere.
func (r *Recorder) Add(record Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.records = append(r.records, record)
}

// Records returns what was recorded so far. A lease that has not ended is there
// with an End that may come at any time after its holder was last seen to trust
// it. A call that has not returned is not there: wait for all of them first.
func (r *Recorder) Records() []Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	records := append([]Record(nil), r.records...)
	for l := range r.open {
		records = append(records, l.ends(Unknown)...)
	}
	return records
}

// Client returns a client whose calls are recorded. Its calls are for one
// goroutine at a time.
func (r *Recorder) Client(c *coordinator.Coordinator) *Client {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clients++
	return &Client{recorder: r, coordinator: c, name: fmt.Sprint("client ", r.clients)}
}

// outcome says what is known of a call by its error.
func outcome(err error) Outcome {
	var e *coordinator.Error
	switch {
	case err == nil:
		return Done
	case errors.Is(err, coordinator.ErrBusy):
		return Busy
	case errors.As(err, &e) && e.Outcome == coordinator.Unknown:
		return Unknown
	}
	return Nothing
}

// returned is when a call has had its effect at the latest.
func returned(o Outcome) Instant {
	if o == Unknown {
		return Never
	}
	return now()
}

// Write records a write to a resource that checks the token: write does it, and
// its error is returned. An error that has token.ErrStale was refused, and every
// other may have taken effect.
func (c *Client) Write(resource string, t token.Token, value string, write func() error) error {
	call := now()
	err := write()
	o := Done
	switch {
	case errors.Is(err, token.ErrStale):
		o = Stale
	case err != nil:
		o = Unknown
	}
	c.recorder.Add(Record{
		Kind: Write, Outcome: o, Client: c.name, Resource: resource, Token: t, Value: value, Call: call, Return: returned(o),
	})
	return err
}

// Read records a read of a resource. One that failed is not recorded.
func (c *Client) Read(resource string, read func() (string, error)) (string, error) {
	call := now()
	value, err := read()
	if err == nil {
		c.recorder.Add(Record{
			Kind: Read, Outcome: Done, Client: c.name, Resource: resource, Value: value, Call: call, Return: now(),
		})
	}
	return value, err
}
