package diskstore

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/palisade-go/palisade/token"
)

const (
	// DefaultOperationsMax is how many operations of a resource are remembered
	// when Config does not say.
	DefaultOperationsMax = 1000
	// OperationsLimit is the greatest Config.OperationsMax.
	OperationsLimit = 1_000_000
)

// Config says how a Store works. The zero value is ready to use.
type Config struct {
	// OperationsMax is how many operations are remembered for each resource; the
	// oldest is forgotten first. Raise it if more operations than that may come
	// between the first attempt at one and the last retry. Each costs its id
	// twice, its answer, and some 80 bytes. It may change between starts. To
	// OperationsLimit. Default: 1000.
	OperationsMax int

	fs vfs.FS // tests put one in memory, or one with faults
}

func (c Config) check() error {
	if c.OperationsMax < 0 || c.OperationsMax > OperationsLimit {
		return fmt.Errorf("%w: Config.OperationsMax is %d, not 0 to %d", token.ErrInvalid, c.OperationsMax, OperationsLimit)
	}
	return nil
}

func (c Config) operationsMax() uint64 {
	if c.OperationsMax == 0 {
		return DefaultOperationsMax
	}
	return uint64(c.OperationsMax)
}
