package history

import (
	"errors"
	"fmt"
	"sync"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/token"
)

// Recorder collects records. It is safe for concurrent use.
type Recorder struct {
	mu      sync.Mutex
	records []Record
	open    map[*Lease]struct{} // leases without an End
	clients int
	who     string   // comes before the names of clients
	journal *journal // takes the place of records; nil: they are kept
}

// NewRecorder returns a Recorder with no records.
func NewRecorder() *Recorder { return &Recorder{open: map[*Lease]struct{}{}} }

// Add takes records that were made elsewhere: by programs that acquire with
// Coordinator.Do, or that call the coordinator through code of their own.
//
//   - Call is Now before the call is made, and Return is Now after it returned.
//   - An Acquire and the End of each of its keys are added in one call: a grant
//     without an end is one that never ends. A journal has them whole or not at
//     all.
//   - An acquire by Do returns when fn begins. Its End has as its Call the last
//     moment at which fn is known to have trusted the lease, read before Held
//     said yes. Its Outcome is Unknown and its Return Never, as Do does not tell
//     whether the release was confirmed.
func (r *Recorder) Add(records ...Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.journal == nil {
		r.records = append(r.records, records...)
		return
	}
	var l line
	for _, record := range records {
		l = append(l, entry{r.journal.next(), record})
	}
	r.journal.put(l)
}

// begin notes a call that is about to be made, and returns its number in the
// journal; zero if there is none.
func (r *Recorder) begin(record Record) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.journal == nil {
		return 0
	}
	record.Outcome, record.Call, record.Return = Unknown, Now(), Never
	number := r.journal.next()
	r.journal.put(line{{number, record}})
	return number
}

// finish takes the record of a call that has returned.
func (r *Recorder) finish(number uint64, record Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.journal == nil {
		r.records = append(r.records, record)
		return
	}
	r.journal.put(line{{number, record}})
}

// Records returns what was recorded so far; of a journal nothing. A lease that
// has not ended is there with an End that may come at any time after its holder
// was last seen to trust it. A call that has not returned is not there: wait
// for all of them first.
func (r *Recorder) Records() []Record {
	if r.journal != nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	records := append([]Record(nil), r.records...)
	for l := range r.open {
		records = append(records, l.ending(Unknown)...)
	}
	return records
}

// Client returns a client whose calls are recorded. Its calls are for one
// goroutine at a time.
func (r *Recorder) Client(c *coordinator.Coordinator) *Client {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clients++
	return &Client{recorder: r, coordinator: c, name: fmt.Sprint(r.who, "client ", r.clients)}
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
	return Now()
}

// Write records a write to a resource that checks the token: write does it, and
// its error is returned. An error that has token.ErrStale was refused, and every
// other may have taken effect.
func (c *Client) Write(resource string, t token.Token, value string, write func() error) error {
	number := c.recorder.begin(Record{Kind: Write, Client: c.name, Resource: resource, Token: t, Value: value})
	call := Now()
	err := write()
	o := Done
	switch {
	case errors.Is(err, token.ErrStale):
		o = Stale
	case err != nil:
		o = Unknown
	}
	c.recorder.finish(number, Record{
		Kind: Write, Outcome: o, Client: c.name, Resource: resource, Token: t, Value: value, Call: call, Return: returned(o),
	})
	return err
}

// Read records a read of a resource. One that failed is not recorded.
func (c *Client) Read(resource string, read func() (string, error)) (string, error) {
	call := Now()
	value, err := read()
	if err == nil {
		c.recorder.Add(Record{
			Kind: Read, Outcome: Done, Client: c.name, Resource: resource, Value: value, Call: call, Return: Now(),
		})
	}
	return value, err
}
