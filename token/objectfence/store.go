package objectfence

import (
	"context"
	"fmt"
	"strings"

	"github.com/palisade-go/palisade/token"
)

const (
	// NameBytesMax is the length of the longest Name.
	NameBytesMax = 200
	// ObjectBytesMax is the size of the largest object. It is kept in memory.
	ObjectBytesMax = 64 << 20
)

// Name is the name of an object in a Store: 1..NameBytesMax characters of a to
// z, 0 to 9, '-', '_' and '.', of which the first is no '.'. It is the same in a
// URL and in any file system, also in one that does not tell upper from lower
// case.
type Name string

// Check returns nil for a name that a Store takes, and otherwise
// token.ErrInvalid.
func (n Name) Check() error {
	const allowed = "abcdefghijklmnopqrstuvwxyz0123456789-_."
	switch {
	case n == "":
		return fmt.Errorf("%w: the object has no name", token.ErrInvalid)
	case len(n) > NameBytesMax:
		return fmt.Errorf("%w: name %.64q... of an object is longer than %d bytes", token.ErrInvalid, string(n), NameBytesMax)
	case n[0] == '.':
		return fmt.Errorf("%w: name %.64q of an object begins with a dot", token.ErrInvalid, string(n))
	case strings.Trim(string(n), allowed) != "" || strings.ContainsFunc(string(n), func(r rune) bool {
		return !strings.ContainsRune(allowed, r)
	}):
		return fmt.Errorf("%w: name %.64q of an object has other characters than %s", token.ErrInvalid, string(n), allowed)
	}
	return nil
}

// ETag names one state of an object. Two states with the same body may have the
// same one.
type ETag string

// Absent is the ETag of an object that is not there.
const Absent ETag = ""

// Object is what a Store has under a name.
type Object struct {
	Body []byte
	ETag ETag // never Absent
}

// Store is an object store that compares. Its methods are safe for concurrent
// use, also by several processes. Package storetest checks one.
type Store interface {
	// Get returns the object, whole, as the last PutIf left it that had returned
	// nil before, or a later one. It blocks for the store; ctx ends that. What it
	// returns is durable.
	//
	// Errors: ErrNotFound; token.ErrInvalid for the name; ErrTooLarge; its own.
	Get(ctx context.Context, name Name) (Object, error)

	// PutIf replaces the object if its ETag is match, or makes it if match is
	// Absent and it is not there. Of two calls with one match at most one
	// succeeds. It blocks for the store; ctx ends that. On success the body is
	// durable, and is what every later Get sees; the ETag is that of the new
	// state, or Absent if the store did not say.
	//
	// Errors: ErrChanged, ErrRefused, ErrTooLarge and token.ErrInvalid, after
	// which this call has done nothing and never will. After every other error it
	// may have replaced the object or not, and may do it later.
	PutIf(ctx context.Context, name Name, body []byte, match ETag) (ETag, error)
}
