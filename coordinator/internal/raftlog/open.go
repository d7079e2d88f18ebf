package raftlog

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"
)

// open opens the store below dir, the engine's directory, and makes it if need
// be. memTable is memTableBytes, or less in tests that want to see many
// rotations. After an error nothing is open.
func open(dir string, opts Options, memTable uint64) (s *Store, err error) {
	fsys := opts.FS
	if fsys == nil {
		fsys = vfs.Default
	}
	path := fsys.PathJoin(dir, DirName)
	defer func() {
		if err != nil {
			s, err = nil, fmt.Errorf("open log store %s: %w", path, err)
		}
	}()
	if err := refuseOthers(fsys, dir); err != nil {
		return nil, err
	}
	if err := refuseDatabase(fsys, path); err != nil {
		return nil, err
	}
	failure, stall := newFailure(path, orDiscard(opts.Logger)), newStall()
	db, err := openDatabase(path, databaseOptions(fsys, failure, listener(failure, stall), memTable), failure)
	if err != nil {
		return nil, err
	}
	s = newStore(path, db, failure, stall)
	if err := s.checkFormat(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// others are the names of directories of log stores that the engine brings with
// it, and what they are. The first is the beginning of a name.
var others = []struct{ name, what string }{
	{"logdb-", "the engine's sharded pebble"},
	{"tandb", "the engine's Tan"},
}

// refuseOthers refuses a directory of the engine that has another log store: this
// one would begin with an empty log beside it.
func refuseOthers(fsys vfs.FS, dir string) error {
	names, err := fsys.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		for _, other := range others {
			if strings.HasPrefix(name, other.name) {
				return &FormatError{Dir: dir, Found: fmt.Sprintf("%s, a log store of another kind: %s", name, other.what)}
			}
		}
	}
	return nil
}

// formatMarker is the name under which pebble keeps the format of a database.
const formatMarker = "format-version"

// earlierPebble is the name of a file that pebble no longer makes. It overlooks a
// database of that time, and would make a new one between its files.
const earlierPebble = "CURRENT"

// refuseDatabase refuses a database in a format that is not the one that
// databases are made in here. Pebble would go on with a later one that it knows,
// and would bring an earlier one, of whatever program, to this one.
func refuseDatabase(fsys vfs.FS, path string) error {
	if _, err := fsys.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := fsys.Stat(fsys.PathJoin(path, earlierPebble)); err == nil {
		return &FormatError{Dir: path, Found: "a database of an earlier pebble"}
	}
	text, err := atomicfs.ReadMarker(fsys, path, formatMarker)
	if errors.Is(err, fs.ErrNotExist) || err == nil && text == "" {
		return nil // there is no database, or one whose birth has just begun
	}
	if err != nil {
		return err
	}
	format, err := strconv.ParseUint(text, 10, 32)
	switch found := fmt.Sprintf("a pebble database of format %q, not %d", text, databaseFormat); {
	case err == nil && format == uint64(databaseFormat):
		return nil
	case err == nil && format < uint64(databaseFormat) && isEmpty(fsys, path):
		return nil // a database begins with an early format and is brought to ours
	default:
		return &FormatError{Dir: path, Found: found}
	}
}

// isEmpty reports whether there is a database without a key. It changes nothing.
func isEmpty(fsys vfs.FS, path string) bool {
	db, err := tryOpen(path, &pebble.Options{FS: fsys, ReadOnly: true, Logger: databaseLog{newFailure(path, orDiscard(nil))}})
	if err != nil {
		return false
	}
	defer db.Close()
	iter, err := db.NewIter(nil)
	if err != nil {
		return false
	}
	defer iter.Close()
	return !iter.First() && iter.Error() == nil
}

// checkFormat writes the format record into an empty store and checks it in any
// other. The record is synced before anything else is written, so a store without
// it has nothing else either.
func (s *Store) checkFormat() error {
	key := []byte{spaceFormat}
	value, closer, err := s.db.Get(key)
	switch {
	case err == nil:
		defer closer.Close()
		if !bytes.Equal(value, formatValue()) {
			return &FormatError{Dir: s.dir, Found: describeFormat(value)}
		}
		return nil
	case !errors.Is(err, pebble.ErrNotFound):
		return s.readError(err)
	}
	other, err := s.firstKey(nil)
	if err != nil {
		return err
	}
	if other != nil {
		return &FormatError{Dir: s.dir, Found: fmt.Sprintf("no format record, but key %x", other)}
	}
	return s.alone(func(c *change) error {
		c.durable = true
		return c.batch.Set(key, formatValue(), nil)
	})
}
