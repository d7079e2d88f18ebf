package kerneltest

import (
	"fmt"
	"path"
	"strings"
	"syscall"
)

// Image is a directory as its process sees it, and as it is on the disk.
type Image struct {
	root  *inode
	open  map[int]*inode
	turns int
}

// NewImage returns an empty directory whose own name is durable.
func NewImage() *Image { return &Image{root: newDir(), open: make(map[int]*inode)} }

// inode is a file, a directory or a symbolic link.
type inode struct {
	link string // what a symbolic link points to

	durable []byte
	seen    []byte
	pending []change

	dir           bool
	durableNames  map[string]*inode
	seenNames     map[string]*inode
	pendingNaming []naming
}

func newDir() *inode {
	return &inode{dir: true, durableNames: make(map[string]*inode), seenNames: make(map[string]*inode)}
}

// change is a write, or a new length if data is nil.
type change struct {
	offset int64
	data   []byte
}

// on returns what the change makes of content.
func (c change) on(content []byte) []byte {
	end := c.offset + int64(len(c.data))
	if c.data == nil {
		return resized(content, c.offset)
	}
	if end > int64(len(content)) {
		content = resized(content, end)
	}
	copy(content[c.offset:], c.data)
	return content
}

func resized(content []byte, size int64) []byte {
	if size <= int64(len(content)) {
		return content[:size:size]
	}
	return append(content, make([]byte, size-int64(len(content)))...)
}

// naming gives a name to an inode and takes one away, as one step.
type naming struct {
	add    string
	inode  *inode
	remove string
}

func (n naming) on(names map[string]*inode) {
	if n.remove != "" {
		delete(names, n.remove)
	}
	if n.add != "" {
		names[n.add] = n.inode
	}
}

// Turns counts how often more became durable. Two moments with the same count
// leave the same after a loss of power, if nothing else survives.
func (m *Image) Turns() int { return m.turns }

// Apply makes a call of the journal take place.
func (m *Image) Apply(o Operation) error {
	if o.Failed != 0 {
		if o.Kind == Sync {
			m.open[o.File].forget()
		}
		return nil
	}
	if err := m.apply(o); err != nil {
		return fmt.Errorf("%v: %w", o, err)
	}
	return nil
}

func (m *Image) apply(o Operation) error {
	switch o.Kind {
	case Open:
		return m.opened(o)
	case Write:
		m.open[o.File].write(change{o.Offset, append([]byte{}, o.Data...)})
	case Truncate:
		m.open[o.File].write(change{o.Size, nil})
	case Sync:
		if m.open[o.File].sync() {
			m.turns++
		}
	case Mkdir:
		return m.give(o.Path, newDir())
	case Symlink:
		return m.give(o.Path, &inode{link: o.To})
	case Link:
		linked, err := m.find(o.Path)
		if err != nil {
			return err
		}
		return m.give(o.To, linked)
	case Rename:
		return m.rename(o.Path, o.To)
	case Unlink:
		return m.name(o.Path, naming{remove: path.Base(o.Path)})
	}
	return nil
}

func (m *Image) opened(o Operation) error {
	file, err := m.find(o.Path)
	if err != nil && o.Flags&syscall.O_CREAT != 0 {
		file = &inode{}
		err = m.give(o.Path, file)
	}
	if err != nil {
		return err
	}
	if o.Flags&syscall.O_TRUNC != 0 && len(file.seen) > 0 {
		file.write(change{0, nil})
	}
	m.open[o.File] = file
	return nil
}

func (m *Image) rename(from, to string) error {
	if path.Dir(from) != path.Dir(to) {
		return fmt.Errorf("a rename across directories is not modelled")
	}
	moved, err := m.find(from)
	if err != nil {
		return err
	}
	return m.name(from, naming{add: path.Base(to), inode: moved, remove: path.Base(from)})
}

func (m *Image) give(at string, to *inode) error {
	return m.name(at, naming{add: path.Base(at), inode: to})
}

// name changes names in the directory that at lies in.
func (m *Image) name(at string, n naming) error {
	dir, err := m.find(path.Dir(at))
	if err != nil {
		return err
	}
	n.on(dir.seenNames)
	dir.pendingNaming = append(dir.pendingNaming, n)
	return nil
}

// find returns what the process sees at a path; "." is the directory itself.
func (m *Image) find(at string) (*inode, error) {
	found := m.root
	if at == "." {
		return found, nil
	}
	for _, part := range strings.Split(at, "/") {
		if found = found.seenNames[part]; found == nil {
			return nil, fmt.Errorf("%s: %w", at, syscall.ENOENT)
		}
	}
	return found, nil
}

func (i *inode) write(c change) {
	i.seen = c.on(i.seen)
	i.pending = append(i.pending, c)
}

// sync makes durable what is pending, and reports whether there was anything.
func (i *inode) sync() bool {
	if len(i.pending)+len(i.pendingNaming) == 0 {
		return false
	}
	for _, c := range i.pending {
		i.durable = c.on(i.durable)
	}
	for _, n := range i.pendingNaming {
		n.on(i.durableNames)
	}
	i.forget()
	return true
}

// forget is what a failed sync does with what was pending.
func (i *inode) forget() { i.pending, i.pendingNaming = nil, nil }
