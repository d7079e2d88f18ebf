package pebblestore

import (
	"fmt"
	"log/slog"

	"github.com/cockroachdb/pebble/v2"

	"github.com/palisade-go/palisade/internal/pebbledb"
)

// engineLog is what the engine logs to.
type engineLog struct {
	dir string
	log *slog.Logger
}

var _ pebble.Logger = engineLog{}

// Infof drops what the engine has to say about its normal work.
func (engineLog) Infof(string, ...any) {}

func (l engineLog) Errorf(format string, args ...any) {
	l.log.Error(fmt.Sprintf(format, args...), "dir", l.dir)
}

// Fatalf is called when the engine no longer knows what is on disk. It must not
// return, and a library must not call os.Exit as the engine's own logger does:
// the panic carries an error that says what happened.
func (l engineLog) Fatalf(format string, args ...any) {
	err := pebbledb.Fatal(format, args...)
	l.log.Error("lock store can't go on", "dir", l.dir, "cause", err)
	panic(fmt.Errorf("lock store %s can't go on: %w", l.dir, err))
}
