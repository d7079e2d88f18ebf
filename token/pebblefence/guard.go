package pebblefence

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/internal/turn"
)

// Guard protects resources whose data is in one pebble database. All methods
// are safe for concurrent use; those of one resource take turns.
type Guard struct {
	keys          keyspace
	store         *store
	operationsMax uint64
	// id is drawn by New and kept in the database, where a later New replaces
	// it.
	id    []byte
	turns turn.Lines
}

// New makes a guard of what the database holds under the prefix. It blocks for
// the disk. On success the guard's id is on disk, and a Guard that was made
// before with the same database and prefix will write nothing more. On failure
// nothing is held; the id may be on disk.
//
// There must be one Guard for a database and prefix at a time: its turns are
// what makes check and write one step. New can't find the other Guard, but the
// other one finds that it was replaced before each of its writes. A call that it
// has begun may still commit once.
//
// Errors: token.ErrInvalid for a bad Config, with every problem; ErrFormat;
// pebble.ErrClosed and pebble.ErrReadOnly; the engine's, as for a database
// without a write-ahead log. It costs one read and one synced commit.
func New(config Config) (*Guard, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	g := &Guard{
		keys:          newKeyspace(config.Prefix),
		store:         &store{db: config.DB},
		operationsMax: config.operationsMax(),
		id:            make([]byte, guardBytes),
	}
	// Numbers that are counted up would be equal for two calls at once.
	if _, err := rand.Read(g.id); err != nil {
		return nil, fmt.Errorf("pebblefence: %w", err)
	}
	format, found, err := g.store.get(g.keys.format())
	if err != nil {
		return nil, err
	}
	if !found {
		format = formatRecord()
	}
	if err := checkFormatRecord(format); err != nil {
		return nil, err
	}
	batch := config.DB.NewBatch()
	if err := batch.Set(g.keys.format(), format, nil); err != nil {
		return nil, fmt.Errorf("pebblefence: %w", err)
	}
	if err := batch.Set(g.keys.guard(), g.id, nil); err != nil {
		return nil, fmt.Errorf("pebblefence: %w", err)
	}
	if err := g.store.commit(batch); err != nil {
		return nil, err
	}
	return g, nil
}

// Accept returns nil if w's token is at least the greatest accepted for the
// resource, and keeps it as the greatest. A new owner calls it before it reads,
// so that no owner before it can write any more. It waits for the resource's
// turn; ctx ends that.
//
// On success the token is on disk. On failure it is not, except after
// token.ErrUnknown. Errors: *token.StaleError; token.ErrInvalid, also for an
// operation id, as nothing is done here; those of Do that are not about its
// write. It costs two reads and, if the token is greater, one more and one synced
// commit.
func (g *Guard) Accept(ctx context.Context, w token.Write) error {
	if err := w.Check(); err != nil {
		return err
	}
	if w.Operation != "" {
		return fmt.Errorf("%w: Accept does nothing that has an operation id, and was given %.64q",
			token.ErrInvalid, string(w.Operation))
	}
	return g.turn(ctx, w.Resource, func(f fence) error {
		if err := w.Judge(f.highest); err != nil {
			return err
		}
		return g.raise(w, f)
	})
}

// Highest returns the greatest token accepted for the resource, zero if none
// was. It waits for the resource's turn, which ctx ends, so that the token is on
// disk: the engine shows a commit to readers before that. It must not be called
// within a write function of the same resource.
//
// Errors: token.ErrInvalid for the name; those of Do that are not about its
// write. It costs two reads.
func (g *Guard) Highest(ctx context.Context, resource string) (highest token.Token, err error) {
	if err := checkResource(resource); err != nil {
		return 0, err
	}
	err = g.turn(ctx, resource, func(f fence) error {
		highest = f.highest
		return nil
	})
	return highest, err
}

// turn runs fn with the resource's fence when nobody else works on the
// resource.
func (g *Guard) turn(ctx context.Context, resource string, fn func(fence) error) error {
	give, err := g.turns.Take(ctx, resource)
	if err != nil {
		return ended(ctx)
	}
	defer give() // by panic and Goexit of a write function too
	if err := g.current(); err != nil {
		return err
	}
	f, err := g.fence(resource)
	if err != nil {
		return err
	}
	return fn(f)
}

// current returns nil if this is still the guard of its prefix.
func (g *Guard) current() error {
	id, _, err := g.store.get(g.keys.guard())
	if err != nil {
		return err
	}
	if !bytes.Equal(id, g.id) {
		return fmt.Errorf("%w: prefix %.64q", ErrReplaced, g.keys.prefix)
	}
	return nil
}

// fence reads the fence of a resource.
func (g *Guard) fence(resource string) (fence, error) {
	value, found, err := g.sealed(g.keys.fence(resource))
	if err != nil {
		return fence{}, err
	}
	if !found {
		return fence{first: firstNumber, next: firstNumber}, nil
	}
	f, err := decodeFence(value)
	if err != nil {
		return fence{}, fmt.Errorf("fence of %.64q: %w", resource, err)
	}
	return f, nil
}

// raise makes w's token the greatest, if it is not.
func (g *Guard) raise(w token.Write, f fence) error {
	if w.Token <= f.highest {
		return nil
	}
	f.highest = w.Token
	batch := g.store.db.NewBatch()
	if err := g.set(batch, g.keys.fence(w.Resource), f.encode()); err != nil {
		return err
	}
	return g.commit(batch)
}

// commit makes the batch durable, if this is still the guard of its prefix.
func (g *Guard) commit(batch *pebble.Batch) error {
	// A write function takes its time, in which a later guard can have come. One
	// that comes between here and the commit is not seen: the engine has no
	// commit with a condition.
	if err := g.current(); err != nil {
		return err
	}
	return g.store.commit(batch)
}

// sealed reads a record that has a checksum, and returns it without.
func (g *Guard) sealed(key []byte) ([]byte, bool, error) {
	record, found, err := g.store.get(key)
	if err != nil || !found {
		return nil, false, err
	}
	value, err := unseal(key[len(g.keys.prefix):], record)
	if err != nil {
		return nil, false, fmt.Errorf("key %.64q: %w", key, err)
	}
	return value, true, nil
}

// set puts a record and its checksum into the batch.
func (g *Guard) set(batch *pebble.Batch, key, value []byte) error {
	if err := batch.Set(key, seal(key[len(g.keys.prefix):], value), nil); err != nil {
		return fmt.Errorf("pebblefence: %w", err)
	}
	return nil
}

// checkResource is the part of Write.Check that is about the resource.
func checkResource(resource string) error {
	return token.Write{Resource: resource, Token: 1}.Check()
}
