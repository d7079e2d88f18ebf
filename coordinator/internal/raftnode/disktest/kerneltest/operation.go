package kerneltest

import (
	"fmt"
	"syscall"
)

// Operation is one call, or a note.
type Operation struct {
	Kind Kind
	// Path is below the directory that is watched, and has no symbolic link but
	// as its last part. Of a call on an open file it is what that was opened as.
	Path string
	// To is the new path of a rename or a hard link, what a symbolic link
	// points to, or the text of a note.
	To     string
	File   int // the descriptor of a call on an open file, or of one that opens it
	Flags  int // of Open
	Offset int64
	Data   []byte // of Write
	Size   int64  // of Truncate
	// Failed is what the call was answered instead of taking place; 0: it took
	// place.
	Failed syscall.Errno
}

// String names the call as a message of a test does.
func (o Operation) String() string {
	text := fmt.Sprintf("%v %s", o.Kind, o.Path)
	switch o.Kind {
	case Note:
		return fmt.Sprintf("note %q", o.To)
	case Write:
		text += fmt.Sprintf(" at %d, %d bytes", o.Offset, len(o.Data))
	case Rename, Link, Symlink:
		text += " to " + o.To
	}
	if o.Failed != 0 {
		text += ", answered: " + o.Failed.Error()
	}
	return text
}

// Kind says what a call does.
type Kind int

// The kinds of operations. Read and List change nothing; they are there to fail.
const (
	Open Kind = iota + 1
	Write
	Truncate
	Allocate
	Sync
	Mkdir
	Link
	Symlink
	Rename
	Unlink
	Read
	List
	Note
)

var kindNames = [...]string{Open: "open", Write: "write", Truncate: "truncate", Allocate: "allocate", Sync: "sync",
	Mkdir: "mkdir", Link: "link", Symlink: "symlink", Rename: "rename", Unlink: "unlink", Read: "read", List: "list", Note: "note"}

// String returns the kind's name.
func (k Kind) String() string { return kindNames[k] }
