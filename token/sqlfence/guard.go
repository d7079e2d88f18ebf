package sqlfence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/palisade-go/palisade/token"
)

// Guard protects resources that are rows of one database, whatever rows those
// are. For each it keeps the greatest token accepted, in a table beside them. A
// resource belongs to one lock key: tokens of different lock keys do not
// compare. All methods are safe for concurrent use, from any number of
// processes.
type Guard struct {
	db        *sql.DB
	words     words
	isolation sql.IsolationLevel
	attempts  attempts
}

// New returns a guard over db, which has the tables of Schema. It asks the
// database nothing and never blocks. It returns ErrInvalid, naming all that is
// wrong, for a nil db, an unknown dialect, and a Config that d does not offer.
func New(db *sql.DB, d Dialect, c Config) (*Guard, error) {
	problems := c.check(d)
	if db == nil {
		problems = errors.Join(fmt.Errorf("%w: db is nil", token.ErrInvalid), problems)
	}
	if problems != nil {
		return nil, problems
	}
	if c.AttemptsMax == 0 {
		c.AttemptsMax = AttemptsDefault
	}
	return &Guard{
		db: db, words: d.words(), isolation: c.Isolation,
		attempts: attempts{database: d.database(), max: c.AttemptsMax, pause: pause},
	}, nil
}

// Do runs fn in a transaction that holds the fence of w.Resource, and commits
// what fn wrote together with the raised fence and the operation's receipt. It
// blocks while another transaction holds the fence, and as long as fn does,
// until ctx ends. On success the receipt has w.Token and fn's value, and all is
// durable; or an earlier attempt at w.Operation took effect, then the receipt
// is that attempt's, Repeated is true, and fn was not called. On failure
// nothing is left, of fn's rows, the fence and the operation, unless the error
// is token.ErrUnknown or ErrEnded.
//
// The errors are token.ErrInvalid for what Write.Check refuses, a nil fn and a
// value of more than ValueBytesMax bytes; *token.StaleError if a greater
// token was accepted before; ErrContended if AttemptsMax attempts were ended
// by the database; token.ErrUnknown if the answer to the commit was lost;
// ErrEnded; ErrDamaged; fn's own; the database's; and with any of them the
// context's and its cause, if it has ended. Beside fn's statements it costs BEGIN,
// COMMIT and, on PostgreSQL, four more; two without an operation id, and up to
// two more for a new resource. On SQLite, in the process, it is up to seven.
//
// fn writes through tx alone, returns every error that it gets from it, and
// neither commits nor rolls back. It may run several times, each time in a new
// transaction, so it has no effect outside of tx. The ctx it is given is Do's.
// If fn panics or calls runtime.Goexit, the transaction is rolled back.
func (g *Guard) Do(
	ctx context.Context, w token.Write, fn func(ctx context.Context, tx *sql.Tx) ([]byte, error),
) (token.Receipt, error) {
	return g.do(ctx, w, token.Write.Judge, fn)
}

// DoOnce is Do for leases that allow one write each: it refuses a token that
// equals the greatest accepted as well. A write that failed has not used up its
// token.
func (g *Guard) DoOnce(
	ctx context.Context, w token.Write, fn func(ctx context.Context, tx *sql.Tx) ([]byte, error),
) (token.Receipt, error) {
	return g.do(ctx, w, token.Write.JudgeOnce, fn)
}

// Accept raises the fence of w.Resource to w.Token without a write. A new owner
// calls it before it reads what it will write by: from then on no earlier owner
// can change that. It blocks and fails like Do. An operation id in w is
// refused with token.ErrInvalid, as nothing is done here.
func (g *Guard) Accept(ctx context.Context, w token.Write) error {
	if err := w.Check(); err != nil {
		return err
	}
	if w.Operation != "" {
		return fmt.Errorf("%w: Accept does nothing that an operation id could name, and was given %q",
			token.ErrInvalid, w.Operation)
	}
	return g.begin(ctx, func(tx *sql.Tx) (commit bool, err error) {
		held, err := g.attempts.database.hold(ctx, tx, w)
		if err != nil {
			return false, err
		}
		if err := w.Judge(held.highest); err != nil {
			return false, err
		}
		return g.raiseAbove(ctx, tx, w, held)
	})
}

// Highest returns the greatest token accepted for a resource, zero if none was.
// It does not wait for a transaction that holds the fence, which may raise it a
// moment later. It reads outside a transaction and costs one statement. The
// errors are token.ErrInvalid for what can't be a resource's name, ErrDamaged,
// ErrContended and the database's.
func (g *Guard) Highest(ctx context.Context, resource string) (token.Token, error) {
	if err := (token.Write{Resource: resource, Token: 1}).Check(); err != nil {
		return 0, err
	}
	var highest token.Token
	err := g.attempts.run(ctx, func() error {
		var column any
		err := g.db.QueryRowContext(ctx, g.words.highest, resource).Scan(&column)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("sqlfence: read the fence: %w", err)
		}
		highest, err = readToken("the fence", resource, column)
		return err
	})
	return highest, finished(ctx, err)
}

// do is Do with the rule that decides.
func (g *Guard) do(
	ctx context.Context, w token.Write, judge func(token.Write, token.Token) error,
	fn func(ctx context.Context, tx *sql.Tx) ([]byte, error),
) (token.Receipt, error) {
	if err := w.Check(); err != nil {
		return token.Receipt{}, err
	}
	if fn == nil {
		return token.Receipt{}, fmt.Errorf("%w: nil function for resource %q", token.ErrInvalid, w.Resource)
	}
	var receipt token.Receipt
	err := g.begin(ctx, func(tx *sql.Tx) (commit bool, err error) {
		held, err := g.attempts.database.hold(ctx, tx, w)
		if err != nil {
			return false, err
		}
		var known bool
		if receipt, known, err = g.recall(ctx, tx, w); err != nil {
			return false, err
		}
		if known {
			return g.raiseAbove(ctx, tx, w, held)
		}
		if err := judge(w, held.highest); err != nil {
			return false, err
		}
		value, err := fn(ctx, tx)
		if err != nil {
			return false, err
		}
		if len(value) > ValueBytesMax {
			return false, fmt.Errorf("%w: the value of the write has %d bytes, more than %d",
				token.ErrInvalid, len(value), ValueBytesMax)
		}
		// After fn, so that these statements find out if its transaction is gone
		// or has failed. Before it they would be gone as well, unnoticed.
		if err := g.attempts.database.raise(ctx, tx, w, held); err != nil {
			return false, err
		}
		receipt = token.Receipt{Token: w.Token, Value: oneEmpty(value)}
		return true, g.record(ctx, tx, w, value)
	})
	if err != nil {
		return token.Receipt{}, err
	}
	return receipt, nil
}

// raiseAbove raises the fence if w's token is above it. Otherwise there is
// nothing to commit.
func (g *Guard) raiseAbove(ctx context.Context, tx *sql.Tx, w token.Write, held fence) (commit bool, err error) {
	if w.Token <= held.highest {
		return false, nil
	}
	return true, g.attempts.database.raise(ctx, tx, w, held)
}

// begin runs work in one transaction after the other, until the database lets
// one end by itself.
func (g *Guard) begin(ctx context.Context, work func(*sql.Tx) (commit bool, err error)) error {
	return finished(ctx, g.attempts.run(ctx, func() error { return g.transaction(ctx, work) }))
}
