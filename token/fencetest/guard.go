package fencetest

import (
	"context"
	"testing"

	"github.com/palisade-go/palisade/token"
)

// Guard is a guard with a resource behind it: a list of entries for each
// resource name, all of them empty at first. A test writes a small adapter
// that makes its own guard into one. All methods are called concurrently.
//
// Several attempts at one operation come with an entry each, so that the list
// tells which of them took effect. A guard that compares the content of
// attempts is to be given the entry as something that it does not compare.
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
	// Highest returns the greatest token accepted, zero if none was. A name that
	// Write.Check refuses it may refuse with token.ErrInvalid.
	Highest(ctx context.Context, resource string) (token.Token, error)
	// Entries reads the list, around the guard. It is asked for good names only.
	Entries(ctx context.Context, resource string) ([]string, error)
}

// How many writes a random part makes.
const (
	// StepsDefault is for guards that take a millisecond for a write or less.
	StepsDefault = 2000
	// StepsMin is the fewest that Traits may ask for: with fewer a run can miss
	// a kind of outcome by chance, and a run that missed one fails.
	StepsMin = 500
	// StepsForAll is enough for every order and every choice of operations of
	// three writers with two writes each.
	StepsForAll = 197_100
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
	// Reopen closes a guard and opens the same data, as a restart does. No call
	// runs meanwhile, and the guard that is given is not used afterwards. Nil:
	// the guard remembers nothing past its process, and the rules about that are
	// skipped.
	Reopen func(t *testing.T, g Guard) Guard

	// Steps is how many writes each random part makes; the concurrent parts
	// make about half as many. Fewer make the suite faster for a guard that
	// syncs a disk at each write, more find what is rarer. Zero: StepsDefault.
	// Otherwise at least StepsMin.
	Steps int
	// Seed fixes what the random parts draw. Zero: another one each time. A
	// failure prints it. The package registers no flag for it, as that would
	// be a flag of every test binary that imports it.
	Seed uint64
}
