package objectfence

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// disk is the directory of a FileStore, as single steps each of which can fail
// or be the last of its process. Names are of the directory's own files.
type disk interface {
	// lock locks the directory for this caller alone, if nobody has.
	lock() (unlock func() error, locked bool, err error)
	// read returns the file, at most ObjectBytesMax bytes, or fs.ErrNotExist.
	read(name string) ([]byte, error)
	// create empties the file or makes it.
	create(name string) error
	// write fills the file that create has made.
	write(name string, body []byte) error
	// sync makes the content of the file durable.
	sync(name string) error
	// rename puts a file in the place of another.
	rename(from, to string) error
	// syncNames makes durable what rename and remove did.
	syncNames() error
	remove(name string) error
	list() ([]string, error)
}

// osDisk is a directory of the operating system.
type osDisk struct{ dir string }

func (d osDisk) path(name string) string { return filepath.Join(d.dir, name) }

func (d osDisk) read(name string) (body []byte, err error) {
	file, err := os.Open(d.path(name))
	if err != nil {
		return nil, err
	}
	defer file.Close() // it was only read
	body, err = io.ReadAll(io.LimitReader(file, ObjectBytesMax+1))
	if err != nil {
		return nil, err
	}
	if len(body) > ObjectBytesMax {
		return nil, ErrTooLarge
	}
	return body, nil
}

func (d osDisk) create(name string) error {
	file, err := os.OpenFile(d.path(name), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return file.Close()
}

func (d osDisk) write(name string, body []byte) error {
	return d.open(name, func(file *os.File) error {
		_, err := file.Write(body)
		return err
	})
}

func (d osDisk) sync(name string) error { return d.open(name, (*os.File).Sync) }

func (d osDisk) open(name string, do func(*os.File) error) error {
	file, err := os.OpenFile(d.path(name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(do(file), file.Close())
}

func (d osDisk) rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }

func (d osDisk) syncNames() error {
	dir, err := os.Open(d.dir)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func (d osDisk) remove(name string) error {
	if err := os.Remove(d.path(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (d osDisk) list() ([]string, error) {
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if entry.Type().IsRegular() {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}
