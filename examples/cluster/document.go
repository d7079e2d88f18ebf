package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/palisade-go/palisade/token"
)

// document is what the lock protects: a file that all processes write, each
// time as a whole. It trusts no process to know whether it still owns the
// lock. It keeps the greatest token it has accepted, next to the text, and
// refuses lower ones.
type document struct{ path string }

func documentIn(dir string) document { return document{filepath.Join(dir, "document")} }

// edition is the content of a document: the token in the first line, the text
// after it. The zero value stands for a document that nobody wrote yet.
type edition struct {
	token token.Token
	text  string
}

// write replaces the text. A token that is lower than the one in the file is
// refused with token.ErrStale, and the file stays what it is.
//
// The system's lock on a second file makes the check and the write one step
// for all processes. It is no substitute for the lock "report": it says who
// writes at this moment, not whose turn it is.
func (d document) write(t token.Token, text string) error {
	turn, err := os.OpenFile(d.path+".turn", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer turn.Close() // ends the system's lock, too
	if err := syscall.Flock(int(turn.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", turn.Name(), err)
	}
	before, err := d.read()
	if err != nil {
		return err
	}
	// A guard remembers nothing past its process. Here the file remembers.
	var guard token.Guard
	if !before.token.IsZero() {
		if err := guard.Accept(d.path, before.token); err != nil {
			return err
		}
	}
	return guard.Do(d.path, t, func() error { return d.replace(edition{t, text}) })
}

// read returns the content. It does not wait for a write: a file takes the
// place of another at once.
func (d document) read() (edition, error) {
	content, err := os.ReadFile(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return edition{}, nil
	}
	if err != nil {
		return edition{}, err
	}
	first, text, _ := bytes.Cut(content, []byte("\n"))
	t, err := token.Parse(string(first))
	if err != nil {
		return edition{}, fmt.Errorf("%s: %w", d.path, err)
	}
	return edition{t, string(text)}, nil
}

func (d document) replace(e edition) error {
	content := fmt.Sprintf("%s\n%s", e.token, e.text)
	if err := os.WriteFile(d.path+".new", []byte(content), 0o600); err != nil {
		return err
	}
	return os.Rename(d.path+".new", d.path)
}
