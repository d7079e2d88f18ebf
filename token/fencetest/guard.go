package fencetest

import (
	"context"
	"testing"

	"github.com/palisade-go/palisade/token"
)

// Guard is a guard with a resource behind it: a list of entries for each
// resource name, all of them empty at first. A test writes a small adapter
// that makes its own guard into one. All methods are called concurrently.
type Guard interface {
	// Append makes a guarded write that adds entry to the end of the list, for a
	// token that equals the greatest accepted too. The Receipt's Value is the
	// list's new length in decimal. An entry that begins with "fail" is added,
	// and then the write function returns an error: Append returns it, wrapped
	// or not.
	Append(ctx context.Context, w token.Write, entry string) (token.Receipt, error)
	// AppendOnce is Append for leases that allow one write each: it takes a
	// greater token only.
	AppendOnce(ctx context.Context, w token.Write, entry string) (token.Receipt, error)
	// Accept raises the greatest token accepted without a write.
	Accept(ctx context.Context, w token.Write) error
	// Highest returns the greatest token accepted, zero if none was.
	Highest(ctx context.Context, resource string) (token.Token, error)
	// Entries reads the list, around the guard.
	Entries(ctx context.Context, resource string) ([]string, error)
}

// StepsDefault is how many writes a random part makes, and StepsMin the fewest
// that Traits may ask for: with fewer a run can miss a kind of outcome by
// chance, and a run that missed one fails.
const (
	StepsDefault = 2000
	StepsMin     = 300
)

// OperationsMax is how many operation ids the suite uses at one resource, at
// most. A guard that keeps fewer would forget some, and do again what was done;
// it is to be opened with a greater bound.
const OperationsMax = 64

// Traits says what a guard can do beyond refusing stale tokens. The zero value
// is the most that a guard can do, but for Reopen.
type Traits struct {
	// NoOperations says that the guard remembers no operation ids, as
	// token.Guard. The rules about them are skipped then.
	NoOperations bool
	// KeepsFenceOfFailedWrite says that a write that failed leaves its token
	// accepted and possibly its entry in the list, because the guard can't roll
	// back what the write did. A guard over transactions leaves it false.
	KeepsFenceOfFailedWrite bool
	// Reopen closes a guard and opens the same data, as a restart does. Nil:
	// the guard remembers nothing past its process, and the rules about that are
	// skipped.
	Reopen func(t *testing.T, g Guard) Guard

	// Steps is how many writes each random part makes; the concurrent parts
	// make about half as many. Fewer make the suite faster for a guard that
	// syncs a disk at each write, more find what is rarer: no
	// interleaving of the three writers is left out. Zero: StepsDefault.
	// Otherwise at least StepsMin.
	Steps int
	// Seed fixes what the random parts draw. Zero: another one each time. A
	// failure prints it. The package registers no flag for it, as that would
	// be a flag of every test binary that imports it.
	Seed uint64
}
