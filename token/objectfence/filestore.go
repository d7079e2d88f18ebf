package objectfence

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// The files of a FileStore beside its objects. No Name begins with a dot.
const (
	lockFile = ".lock"
	nextFile = ".next"
)

// FileStore is a Store in a directory of a local file system, one file for each
// object. Any number of processes may use one directory at once. Its ETags are
// those of the contents: two states of an object with the same body have the
// same one.
//
// Readers need no lock: a file is made whole under a name of its own, and then
// renamed. The lock is the kernel's (flock), so it ends with the process that
// has it. Network file systems that do not have it on all machines at once, or
// whose rename is none, are no place for a FileStore.
type FileStore struct {
	dir  string
	disk disk
}

// OpenFileStore returns the store in a directory, which must be there. It makes
// the file with the lock in it. Errors: the operating system's;
// errors.ErrUnsupported where it has no flock.
func OpenFileStore(dir string) (*FileStore, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("objectfence: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("objectfence: %s is not a directory", dir)
	}
	s := &FileStore{dir: dir, disk: osDisk{dir}}
	unlock, locked, err := s.disk.lock()
	if err != nil {
		return nil, s.failed("lock", err)
	}
	if locked { // otherwise it is there
		if err := unlock(); err != nil {
			return nil, s.failed("unlock", err)
		}
	}
	return s, nil
}

// Get implements Store. It costs an fsync of the directory: the file may have
// been renamed by a process that has not come to that yet.
func (s *FileStore) Get(ctx context.Context, name Name) (Object, error) {
	if err := name.Check(); err != nil {
		return Object{}, err
	}
	if ctx.Err() != nil {
		return Object{}, ended(ctx)
	}
	body, err := s.disk.read(string(name))
	if errors.Is(err, fs.ErrNotExist) {
		return Object{}, fmt.Errorf("%w: %s in %s", ErrNotFound, name, s.dir)
	}
	if err != nil {
		return Object{}, s.failed("read", err)
	}
	if err := s.disk.syncNames(); err != nil {
		return Object{}, s.failed("sync", err)
	}
	return Object{Body: body, ETag: fileETag(body)}, nil
}

// PutIf implements Store. It waits for the directory's lock, which other writers
// have for the time of one PutIf; ctx ends that wait, and nothing after it. It
// costs an fsync of the file and one of the directory.
func (s *FileStore) PutIf(ctx context.Context, name Name, body []byte, match ETag) (etag ETag, err error) {
	if err := name.Check(); err != nil {
		return Absent, err
	}
	if len(body) > ObjectBytesMax {
		return Absent, fmt.Errorf("%w: %d bytes, at most %d are allowed", ErrTooLarge, len(body), ObjectBytesMax)
	}
	err = s.locked(ctx, func() error { return s.replace(string(name), body, match) })
	if err != nil {
		return Absent, err
	}
	return fileETag(body), nil
}

// replace is PutIf with the lock held.
func (s *FileStore) replace(name string, body []byte, match ETag) error {
	now := Absent
	switch old, err := s.disk.read(name); {
	case err == nil:
		now = fileETag(old)
	case !errors.Is(err, fs.ErrNotExist):
		return s.failed("read", err)
	}
	if now != match {
		return fmt.Errorf("%w: %s in %s", ErrChanged, name, s.dir)
	}
	// What an earlier writer left half done is overwritten here: there is one
	// such file, as there is one writer.
	if err := s.disk.create(nextFile); err != nil {
		return s.failed("create", err)
	}
	if err := s.disk.write(nextFile, body); err != nil {
		return s.failed("write", err)
	}
	if err := s.disk.sync(nextFile); err != nil {
		return s.failed("sync", err)
	}
	if err := s.disk.rename(nextFile, name); err != nil {
		return s.failed("rename", err)
	}
	return s.failed("sync", s.disk.syncNames())
}

// Remove deletes the object, if it is there. It waits for the lock as PutIf
// does. Guards never delete; see Guard.Collect for what may be.
func (s *FileStore) Remove(ctx context.Context, name Name) error {
	if err := name.Check(); err != nil {
		return err
	}
	return s.locked(ctx, func() error {
		if err := s.disk.remove(string(name)); err != nil {
			return s.failed("remove", err)
		}
		return s.failed("sync", s.disk.syncNames())
	})
}

// List returns the names of all objects, in no particular order.
func (s *FileStore) List(ctx context.Context) ([]Name, error) {
	if ctx.Err() != nil {
		return nil, ended(ctx)
	}
	files, err := s.disk.list()
	if err != nil {
		return nil, s.failed("list", err)
	}
	var names []Name
	for _, file := range files {
		if name := Name(file); name.Check() == nil {
			names = append(names, name)
		}
	}
	return names, nil
}

// locked runs fn with the directory's lock.
func (s *FileStore) locked(ctx context.Context, fn func() error) (err error) {
	for try := 0; ; try++ {
		if ctx.Err() != nil {
			return ended(ctx)
		}
		unlock, locked, err := s.disk.lock()
		if err != nil {
			return s.failed("lock", err)
		}
		if locked {
			// A lock that can't be given back stays with the file that was
			// opened for it, and ends with the process at the latest.
			defer unlock()
			return fn()
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}

func (s *FileStore) failed(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("objectfence: %s in %s: %w", what, s.dir, err)
}

func fileETag(body []byte) ETag {
	sum := sha256.Sum256(body)
	return ETag(`"` + hex.EncodeToString(sum[:]) + `"`)
}
