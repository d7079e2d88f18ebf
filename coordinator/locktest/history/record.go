package history

import (
	"errors"
	"fmt"
	"time"

	"github.com/palisade-go/palisade/token"
)

// Kind says what a Record is about.
type Kind string

// The kinds of records. Part of the JSON form; never change.
const (
	Acquire Kind = "acquire" // Keys; Tokens if Outcome is Done
	Try     Kind = "try"     // likewise, and Busy
	End     Kind = "end"     // of one key of a lease, with its token
	Write   Kind = "write"   // Resource, Token, Value; Done, Stale or Unknown
	Read    Kind = "read"    // Resource and the Value that was read; Done
)

// Outcome says how a call ended.
type Outcome string

// The outcomes of calls. Part of the JSON form; never change.
const (
	Done    Outcome = "done"
	Nothing Outcome = "nothing" // an error: nothing was done, or it was undone
	Busy    Outcome = "busy"    // of a Try
	Stale   Outcome = "stale"   // of a Write
	Unknown Outcome = "unknown"
)

// Record is one operation of a client.
type Record struct {
	Kind    Kind    `json:"kind"`
	Outcome Outcome `json:"outcome"`
	// Client names who called; a client does one thing after the other. It is
	// for people.
	Client string `json:"client"`

	// Keys are those of an Acquire or a Try, and Tokens those of the lease, one a
	// key. An End has one of each.
	Keys   []string      `json:"keys,omitempty"`
	Tokens []token.Token `json:"tokens,omitempty"`

	// Resource, Token and Value are those of a Write or a Read.
	Resource string      `json:"resource,omitempty"`
	Token    token.Token `json:"token,omitempty"`
	Value    string      `json:"value,omitempty"`

	// Call was read before the call was made, Return after it returned. The
	// Call of an End is the last moment before which the holder is known to have
	// trusted the lease: it was read before a question that was answered with
	// yes, or before the release. Its Return is Never unless the release was
	// confirmed.
	Call   Instant `json:"call"`
	Return Instant `json:"return"`
}

// ErrInvalid says that records are not those of any run.
var ErrInvalid = errors.New("history: invalid record")

// validate returns nil for a record that the models understand.
func (r Record) validate() error {
	problem := func(what string) error { return fmt.Errorf("%w: %s in %+v", ErrInvalid, what, r) }
	if r.Return < r.Call {
		return problem("it returned before it was called")
	}
	if r.Outcome == Unknown && r.Return != Never {
		return problem("an unknown outcome that ended")
	}
	switch r.Kind {
	case Acquire, Try:
		switch {
		case len(r.Keys) == 0:
			return problem("no key")
		case r.Outcome == Done && len(r.Tokens) != len(r.Keys):
			return problem("not one token a key")
		case r.Outcome == Busy && r.Kind != Try, r.Outcome == Stale:
			return problem("an outcome that it can't have")
		}
	case End:
		if len(r.Keys) != 1 || len(r.Tokens) != 1 {
			return problem("not one key with one token")
		}
	case Write:
		if r.Resource == "" || !r.Token.Valid() || r.Outcome != Done && r.Outcome != Stale && r.Outcome != Unknown {
			return problem("no resource, no token, or an outcome that it can't have")
		}
	case Read:
		if r.Resource == "" || r.Outcome != Done {
			return problem("no resource, or not done")
		}
	default:
		return problem("an unknown kind")
	}
	return nil
}

// String tells the record in a line.
func (r Record) String() string {
	until := "…"
	if r.Return != Never {
		until = fmt.Sprint(int64(r.Return))
	}
	return fmt.Sprintf("[%d, %s] %s", r.Call, until, r.what())
}

// told is as String, with times in seconds since start.
func (r Record) told(start Instant) string {
	seconds := func(i Instant) string { return fmt.Sprintf("%.6f", time.Duration(i.since(start)).Seconds()) }
	until := "…"
	if r.Return != Never {
		until = seconds(r.Return)
	}
	return fmt.Sprintf("[%s, %s] %s", seconds(r.Call), until, r.what())
}

// what tells the record without its times.
func (r Record) what() string {
	what := fmt.Sprintf("%s %q %v", r.Kind, r.Keys, r.Tokens)
	switch r.Kind {
	case Write:
		what = fmt.Sprintf("%s %q %v %q", r.Kind, r.Resource, r.Token, r.Value)
	case Read:
		what = fmt.Sprintf("%s %q %q", r.Kind, r.Resource, r.Value)
	}
	return fmt.Sprintf("%s: %s: %s", r.Client, what, r.Outcome)
}

func firstCall(records []Record) Instant {
	first := Never
	for _, r := range records {
		first = min(first, r.Call)
	}
	return first
}
