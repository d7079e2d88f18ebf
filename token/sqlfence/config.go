package sqlfence

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/palisade-go/palisade/token"
)

// AttemptsDefault is how often a transaction is begun if Config does not say.
const AttemptsDefault = 20

// Config is what can be chosen about a guard. The zero value is the default.
type Config struct {
	// Isolation is the level of the guard's transactions, in which the write
	// functions run. For PostgreSQL it is sql.LevelReadCommitted,
	// LevelRepeatableRead or LevelSerializable, for SQLite LevelSerializable,
	// the only one it has. The guard keeps its promises at each of them. Higher
	// ones cost more attempts, and protect the function also from transactions
	// that are not guarded. The default is sql.LevelDefault, what the database
	// is set to.
	Isolation sql.IsolationLevel
	// AttemptsMax is how often a transaction is begun, while the database ends
	// it for the sake of others, before the call gives up with ErrContended.
	// More are wanted where many writers of one resource meet at a level above
	// read committed: all but one of them begin again each time. The default
	// is AttemptsDefault.
	AttemptsMax int
}

// check returns everything that is wrong with a configuration for d.
func (c Config) check(d Dialect) error {
	var problems []error
	if d.database() == nil {
		problems = append(problems, fmt.Errorf("%w: dialect: %v is neither PostgreSQL nor SQLite", token.ErrInvalid, d))
	} else if !slices.Contains(d.levels(), c.Isolation) {
		problems = append(problems, fmt.Errorf("%w: Isolation: %v does not offer %v", token.ErrInvalid, d, c.Isolation))
	}
	if c.AttemptsMax < 0 {
		problems = append(problems, fmt.Errorf("%w: AttemptsMax: %d is negative", token.ErrInvalid, c.AttemptsMax))
	}
	return errors.Join(problems...)
}
