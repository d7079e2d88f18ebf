package pebblefence

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/palisade-go/palisade/token"
)

const (
	// PrefixBytesMax is the length of the longest prefix.
	PrefixBytesMax = 255
	// OperationsDefault is how many operations of a resource are remembered when
	// Config does not say.
	OperationsDefault = 1000
	// OperationsLimit is the greatest Config.OperationsMax.
	OperationsLimit = 1_000_000
	// ValueBytesMax is the length of the longest value that a write function may
	// return. Values are kept with their operations, so a large one costs its
	// length OperationsMax times: return the name of what was written.
	ValueBytesMax = 64 << 10
)

// Config says what New is to guard, and how.
type Config struct {
	// DB is the database that holds the data and the fences. It has a
	// write-ahead log and orders its keys as bytes (pebble.DefaultComparer).
	// Required.
	DB *pebble.DB
	// Prefix is what the keys of this guard begin with, and no key of the data:
	// 1..PrefixBytesMax bytes. Guards of one database have prefixes none of
	// which begins with another. It is part of what is stored: with another
	// prefix the guard remembers nothing. Required.
	Prefix []byte
	// OperationsMax is how many operations the guard remembers for each
	// resource; the oldest are forgotten first. Raise it if more operations than
	// that may come between the first attempt at one and the last retry. Each
	// costs its id twice, its value, and about 60 bytes. Default:
	// OperationsDefault; at most OperationsLimit.
	OperationsMax int
}

// check reports every problem at once, by field.
func (c Config) check() error {
	var problems []error
	report := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("%w: "+format, append([]any{token.ErrInvalid}, args...)...))
	}
	if c.DB == nil {
		report("DB is nil")
	}
	if len(c.Prefix) == 0 || len(c.Prefix) > PrefixBytesMax {
		report("Prefix has %d bytes, not 1 to %d", len(c.Prefix), PrefixBytesMax)
	}
	if c.OperationsMax < 0 || c.OperationsMax > OperationsLimit {
		report("OperationsMax is %d, not 0 to %d", c.OperationsMax, OperationsLimit)
	}
	return errors.Join(problems...)
}

func (c Config) operationsMax() uint64 {
	if c.OperationsMax == 0 {
		return OperationsDefault
	}
	return uint64(c.OperationsMax)
}
