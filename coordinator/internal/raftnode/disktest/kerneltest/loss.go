package kerneltest

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// Left says what is left of that which was not durable.
type Left int

// What a loss of power leaves, and All, which is left by the end of a process.
const (
	Synced Left = iota
	First
	Scattered
	All
)

var leftNames = [...]string{Synced: "what was synced", First: "first parts", Scattered: "scattered parts", All: "all"}

// String tells what is left.
func (l Left) String() string { return leftNames[l] }

// Leave writes into dir, which it makes, what is left at this moment. random is
// asked by First and Scattered only.
func (m *Image) Leave(dir string, left Left, random *rand.Rand) error {
	return m.root.leave(dir, left, random)
}

func (i *inode) leave(at string, left Left, random *rand.Rand) error {
	switch {
	case i.link != "":
		return os.Symlink(i.link, at)
	case !i.dir:
		return os.WriteFile(at, i.content(left, random), 0o600)
	}
	if err := os.Mkdir(at, 0o700); err != nil {
		return err
	}
	names := i.names(left, random)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if err := names[name].leave(filepath.Join(at, name), left, random); err != nil {
			return err
		}
	}
	return nil
}

func (i *inode) names(left Left, random *rand.Rand) map[string]*inode {
	if left == All {
		return i.seenNames
	}
	names := maps.Clone(i.durableNames)
	if left == Synced {
		return names
	}
	for _, n := range i.pendingNaming[:random.IntN(len(i.pendingNaming)+1)] {
		n.on(names)
	}
	return names
}

func (i *inode) content(left Left, random *rand.Rand) []byte {
	content := bytes.Clone(i.durable)
	switch left {
	case All:
		return i.seen
	case First:
		kept := i.pending[:random.IntN(len(i.pending)+1)]
		for n, c := range kept {
			if n == len(kept)-1 {
				c = c.torn(random)
			}
			content = c.on(content)
		}
	case Scattered:
		for _, c := range i.pending {
			if random.IntN(2) == 0 {
				content = c.torn(random).on(content)
			}
		}
	}
	return content
}

// torn cuts a write, half the times at a byte.
func (c change) torn(random *rand.Rand) change {
	if len(c.data) > 0 && random.IntN(2) == 0 {
		c.data = c.data[:random.IntN(len(c.data)+1)]
	}
	return c
}
