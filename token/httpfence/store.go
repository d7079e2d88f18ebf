package httpfence

import (
	"context"
	"net/http"

	"github.com/palisade-go/palisade/token"
)

// Store keeps what a Guard must not forget: for each resource its fence, and
// the operations done to it. Memory is one, package diskstore has one that
// survives a restart.
//
// A Guard calls it for one resource from one goroutine at a time, but for
// Highest; for different resources from many. A store belongs to one Guard: two
// that share one don't know of each other's turns.
type Store interface {
	// Load returns what is kept of a resource, and of one operation on it if an
	// id is given. What was never saved is zero, which is no error.
	Load(ctx context.Context, resource string, operation token.Operation) (Kept, error)
	// Save makes a change, all of it or nothing. After nil it survives whatever
	// the store promises to survive. After an error it may have been made, and
	// may not. It keeps nothing of what change points to.
	Save(ctx context.Context, resource string, change Change) error
}

// Kept is what a store knows about a resource.
type Kept struct {
	// Highest is the greatest token accepted, zero if none was. It only rises.
	Highest token.Token
	// Record is what is kept of the operation that was asked for, nil if it was
	// never begun, was forgotten, or if none was asked for.
	Record *Record
}

// Change is what a guard has a store keep.
type Change struct {
	// Highest is the new fence; zero leaves it as it is.
	Highest token.Token
	// Operation is the one whose record is replaced; "" leaves all as they are.
	Operation token.Operation
	// Record is what is kept of the operation from now on; nil forgets it. A new
	// operation may make a store forget the oldest of the same resource, and
	// never one of another.
	Record *Record
}

// Record is what is kept of an operation. It is saved twice: when the operation
// begins, without an answer, and when the answer is there.
type Record struct {
	// Token is the one under which it was begun.
	Token token.Token
	// Fingerprint tells whether a later request is the same.
	Fingerprint Fingerprint
	// Answer is what the handler answered; nil as long as that is not known.
	Answer *Answer
}

// Answer is a response that is kept to be given again.
type Answer struct {
	Status  int
	Header  http.Header // without what belongs to one connection or one client
	Trailer http.Header
	Body    []byte
	// Omitted says that the answer was too large to be kept. Of such a one only
	// the status is there.
	Omitted bool
}

// Bytes returns the length of what an answer keeps: its body, and the names and
// values of its fields.
func (a *Answer) Bytes() int64 {
	n := len(a.Body)
	for _, fields := range []http.Header{a.Header, a.Trailer} {
		for name, values := range fields {
			for _, value := range values {
				n += len(name) + len(value)
			}
		}
	}
	return int64(n)
}
