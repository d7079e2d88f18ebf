package raftlog

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/lni/dragonboat/v4/config"
	"github.com/lni/dragonboat/v4/raftio"
)

// What the engine writes into a directory of its own at the first start, and
// compares at each later one. Part of the format; never change.
const (
	// Name is what the engine calls the store.
	Name = "palisade-raftlog"
	// BinaryFormat is the number that the engine keeps beside the name. Those of
	// its own stores are 100 and 210.
	BinaryFormat uint32 = 0x50520000 + storeVersion
	// DirName is the name of the store's directory in that of the engine.
	DirName = "raftlog"
)

// Options holds what a caller may choose. The zero value is ready to use.
type Options struct {
	// FS is the file system that holds the store. Tests give one in memory or
	// one with faults. Default: the operating system's.
	FS vfs.FS

	// Logger gets the warnings and errors of the store and of its database.
	// Default: they are discarded.
	Logger *slog.Logger
}

// Factory opens stores for the engine. The engine's own file system
// (config.ExpertConfig.FS) is not used: it has another type than pebble's.
type Factory struct{ options Options }

var _ config.LogDBFactory = (*Factory)(nil)

// NewFactory returns a factory, for config.ExpertConfig.LogDBFactory.
func NewFactory(opts Options) *Factory { return &Factory{opts} }

// Name implements config.LogDBFactory.
func (*Factory) Name() string { return Name }

// Create opens the store of a node, in a directory of its own below the one that
// the engine gives. It may block for the disk. busy may be nil.
//
// Errors: *FormatError when there is something else, ErrInUse, ErrCorrupt, or
// pebble's. A separate directory for the write-ahead log is refused.
func (f *Factory) Create(cfg config.NodeHostConfig, busy config.LogDBCallback,
	dirs []string, walDirs []string) (raftio.ILogDB, error) {
	if len(dirs) != 1 || len(walDirs) > 1 || len(walDirs) == 1 && walDirs[0] != "" && walDirs[0] != dirs[0] {
		return nil, fmt.Errorf("log store is one directory, write-ahead log included: got %q and %q", dirs, walDirs)
	}
	s, err := open(dirs[0], f.options, memTableBytes)
	if err != nil {
		return nil, err
	}
	if busy != nil {
		// The engine has as many accounts of what is busy as it would open
		// databases. Each group looks at one of them.
		stores := max(cfg.Expert.LogDB.Shards, 1)
		s.stall.tell(func(stalled bool) {
			for shard := range stores {
				busy(config.LogDBInfo{Shard: shard, Busy: stalled})
			}
		})
	}
	return s, nil
}

func orDiscard(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	return log
}
