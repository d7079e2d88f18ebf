package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// tree is a copy of the repository that may be broken.
type tree struct{ dir string }

// copyTree copies what git would have: all but directories with a dot.
func copyTree(from string) (tree, error) {
	to, err := os.MkdirTemp("", "mutation")
	if err != nil {
		return tree{}, err
	}
	err = filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(entry.Name(), ".") && rel != "." && entry.Name() != ".ci"
		switch {
		case entry.IsDir() && hidden:
			return filepath.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case !entry.Type().IsRegular():
			return nil
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), content, 0o644)
	})
	if err != nil {
		os.RemoveAll(to)
		return tree{}, err
	}
	return tree{to}, nil
}

// with puts a fault into the tree while fn runs.
func (t tree) with(f fault, fn func()) error {
	name := filepath.Join(t.dir, filepath.FromSlash(f.file))
	source, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	broken, err := f.put(string(source))
	if err != nil {
		return err
	}
	if err := os.WriteFile(name, []byte(broken), 0o644); err != nil {
		return err
	}
	fn()
	return os.WriteFile(name, source, 0o644)
}

func (t tree) remove() { os.RemoveAll(t.dir) }
