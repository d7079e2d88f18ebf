package pebblestore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Open opens the store in dir, which it makes if need be, with its parents. It
// deletes what a crash may have left: images that are not named and the rest of
// replicas that are marked as removed. It blocks for the disk, but reads only
// one key of each image. After an error nothing is open.
//
// Errors: ErrInUse, ErrFormat when the store or its engine has a format that
// this code does not know, ErrCorrupt, or the engine's; all name dir.
func Open(dir string, opts Options) (*Store, error) {
	return open(dir, opts, memTableBytes)
}

// open is Open with another size of memtables. Tests make it small, to see many
// rotations.
func open(dir string, opts Options, memTable uint64) (s *Store, err error) {
	defer func() {
		if err != nil {
			s, err = nil, fmt.Errorf("open lock store %s: %w", dir, err)
		}
	}()
	path, fsys := dir, opts.FS
	if fsys == nil {
		// The engine's lock compares names, and the kernel's does not tell two
		// stores of one process apart: there must be one name for a directory.
		fsys = vfs.Default
		if path, err = resolve(dir); err != nil {
			return nil, err
		}
	}
	log := opts.Logger
	if log == nil {
		log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if err := checkEngineFormat(fsys, path); err != nil {
		return nil, err
	}
	failure := newFailure(dir, log)
	db, err := openEngine(path, engineOptions(fsys, failure, memTable))
	if err != nil {
		return nil, err
	}
	s = &Store{
		dir:     dir,
		db:      db,
		gate:    newGate(),
		failure: failure,
		flusher: &flusher{db: db, failure: failure},
	}
	s.mu.images = make(map[replicaID]*Image)
	s.mu.snapshots = make(map[*Snapshot]struct{})
	if err := s.begin(); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	return s, nil
}

// begin brings what is on disk into order and makes that durable.
func (s *Store) begin() error {
	if err := s.checkFormat(); err != nil {
		return err
	}
	if err := s.resumeRemovals(); err != nil {
		return err
	}
	if err := s.dropUnnamed(); err != nil {
		return err
	}
	return s.flusher.flush()
}

// checkFormat writes the format record into an empty store and checks it in any
// other. The record is the first commit of a store, so by invariant 1 a store
// without it has nothing else either.
func (s *Store) checkFormat() error {
	value, ok, err := s.get([]byte{kindFormat})
	if err != nil {
		return err
	}
	if ok {
		return checkFormatValue(value)
	}
	other, err := s.first(nil, nil)
	if err != nil {
		return err
	}
	if other != nil {
		return fmt.Errorf("%w: no format record, but key %x; this binary knows version %d", ErrFormat, other, storeVersion)
	}
	return s.change(func(batch *pebble.Batch) error {
		return batch.Set([]byte{kindFormat}, formatValue(storeVersion), nil)
	})
}

// resumeRemovals deletes what is left of the replicas that are marked.
func (s *Store) resumeRemovals() error {
	for at := []byte{kindRemoved}; ; {
		mark, err := s.first(at, []byte{kindRemoved + 1})
		if err != nil || mark == nil {
			return err
		}
		id, err := parseReplicaKey(mark)
		if err != nil {
			return err
		}
		records := replicaKey(kindRecord, id)
		left, err := s.first(records, successor(records))
		if err != nil {
			return err
		}
		number, err := s.named(id)
		if err != nil {
			return err
		}
		if left != nil || number != unnamed {
			if err := s.erase(id); err != nil {
				return err
			}
		}
		at = successor(mark)
	}
}

// dropUnnamed deletes every image but the named ones. It reads one key of each.
func (s *Store) dropUnnamed() error {
	for at := []byte{kindRecord}; ; {
		key, err := s.first(at, []byte{kindRecord + 1})
		if err != nil || key == nil {
			return err
		}
		id, number, err := parseImagePrefix(key)
		if err != nil {
			return err
		}
		current, err := s.named(id)
		if err != nil {
			return err
		}
		if number != current {
			image := Image{store: s, id: id}
			if err := image.drop(number); err != nil {
				return err
			}
		}
		at = successor(imagePrefix(id, number))
	}
}

// first returns the first key from lower on and below upper, nil if there is
// none. A nil bound does not bound.
func (s *Store) first(lower, upper []byte) (key []byte, err error) {
	iter, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return nil, s.readError(err)
	}
	if iter.First() {
		key = append([]byte{}, iter.Key()...)
	}
	if err := iter.Close(); err != nil {
		return nil, s.readError(err)
	}
	return key, nil
}

// resolve returns the one absolute name of dir, which need not exist: links are
// followed in the part of it that does.
func resolve(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	rest := ""
	for {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		parent := filepath.Dir(path)
		if !errors.Is(err, fs.ErrNotExist) || parent == path {
			return "", err
		}
		path, rest = parent, filepath.Join(filepath.Base(path), rest)
	}
}
