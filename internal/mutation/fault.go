package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// fault is one known mistake.
type fault struct {
	name   string
	breaks string   // the guarantee, or the rule of a package
	why    string   // what would be seen of it
	file   string   // from the root of the repository, with slashes
	tests  []string // the arguments of go test, in the order to try
	before string
	after  string
}

// readFaults reads all lists under a directory, in the order of their names.
func readFaults(dir string) ([]fault, error) {
	lists, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	var all []fault
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			return nil, err
		}
		faults, err := parseFaults(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", list, err)
		}
		all = append(all, faults...)
	}
	seen := map[string]bool{}
	for _, f := range all {
		if seen[f.name] {
			return nil, fmt.Errorf("two faults are named %s", f.name)
		}
		seen[f.name] = true
	}
	return all, nil
}

// parseFaults reads one list. Lines before the first fault are its heading.
func parseFaults(text string) ([]fault, error) {
	_, text, _ = strings.Cut("\n"+text, "\n== ")
	if text == "" {
		return nil, errors.New("no fault in the list")
	}
	var faults []fault
	for _, block := range strings.Split(text, "\n== ") {
		f, err := parseFault(block)
		if err != nil {
			return nil, err
		}
		faults = append(faults, f)
	}
	return faults, nil
}

func parseFault(block string) (fault, error) {
	head, change, hasChange := strings.Cut(block, "\n---\n")
	before, after, hasAfter := strings.Cut(change, "\n+++\n")
	lines := strings.Split(head, "\n")
	f := fault{name: strings.TrimSpace(lines[0]), before: before, after: strings.TrimRight(after, "\n")}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		switch name {
		case "breaks":
			f.breaks = value
		case "why":
			f.why = value
		case "file":
			f.file = value
		case "test":
			f.tests = append(f.tests, value)
		default:
			return fault{}, fmt.Errorf("fault %s: a line begins with %q", f.name, name)
		}
	}
	switch {
	case !hasChange || !hasAfter:
		return fault{}, fmt.Errorf("fault %s has no change, from --- to +++", f.name)
	case f.before == f.after:
		return fault{}, fmt.Errorf("fault %s changes nothing", f.name)
	case f.breaks == "" || f.why == "" || f.file == "" || len(f.tests) == 0:
		return fault{}, fmt.Errorf("fault %s does not say all of breaks, why, file and test", f.name)
	}
	return f, nil
}

// put returns the source with the fault in it.
func (f fault) put(source string) (string, error) {
	if n := strings.Count(source, f.before); n != 1 {
		return "", fmt.Errorf("fault %s: its text stands %d times in %s, not once", f.name, n, f.file)
	}
	return strings.Replace(source, f.before, f.after, 1), nil
}
