package lint

import (
	"path"
	"regexp"
	"strings"
)

// machinePath matches a path that begins at a directory where people keep
// their own files. The slash must begin the path: a URL or a relative path
// that has such a name inside is none.
var machinePath = regexp.MustCompile(`(?:^|[^\w.\-/])(/(?:work|root|home|Users|farm)/[\w.\-/]*)`)

func checkMachinePaths(t *Tree) []Finding {
	var found findings
	for _, f := range t.Files {
		if path.Base(f.Path) == "go.sum" {
			continue // its hashes are base64, which has slashes
		}
		for i, line := range strings.Split(f.Text, "\n") {
			if m := machinePath.FindStringSubmatch(line); m != nil {
				found.at(f, i+1, "has the path %s of one machine: use a path relative to the repository, or a temporary directory", m[1])
			}
		}
	}
	return found
}

// markdownLink matches the target of [text](target).
var markdownLink = regexp.MustCompile(`\]\(([^()\s]+)\)`)

func checkLinks(t *Tree) []Finding {
	var found findings
	for _, f := range t.Files {
		if !strings.HasSuffix(f.Path, ".md") {
			continue
		}
		for i, line := range strings.Split(f.Text, "\n") {
			for _, m := range markdownLink.FindAllStringSubmatch(line, -1) {
				target, _, _ := strings.Cut(m[1], "#")
				if target == "" || strings.Contains(target, ":") {
					continue // a place in this file, or a URL
				}
				if !t.HasPath(path.Join(f.Dir(), target)) {
					found.at(f, i+1, "links to %s, which is not there", target)
				}
			}
		}
	}
	return found
}

// readmeCommands are the two commands that the README promises.
var readmeCommands = []string{"go run ./examples/quickstart", "go test ./..."}

func checkReadme(t *Tree) []Finding {
	readme := t.Find("README.md")
	if readme == nil {
		return []Finding{{Path: "README.md", Text: "is not there"}}
	}
	var found findings
	for _, command := range readmeCommands {
		if !hasLine(readme.Text, command) {
			found.at(readme, 0, "does not have the line %q", command)
		}
	}
	return found
}

func hasLine(text, want string) bool {
	for _, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) == want {
			return true
		}
	}
	return false
}
