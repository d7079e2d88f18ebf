package lint

import (
	"fmt"
	"strings"
)

// checkFaults compares the number of known faults that docs/testing.md names
// with the lists of internal/mutation.
func checkFaults(t *Tree) []Finding {
	const page = "docs/testing.md"
	faults := 0
	for _, f := range t.Files {
		if under(f.Path, "internal/mutation/faults") {
			faults += strings.Count("\n"+f.Text, "\n== ")
		}
	}
	doc := t.Find(page)
	if doc == nil || faults == 0 {
		return nil
	}
	if want := fmt.Sprintf("There are %d of them", faults); !strings.Contains(doc.Text, want) {
		return []Finding{{Path: page, Text: fmt.Sprintf("does not say of the known faults: %q", want)}}
	}
	return nil
}
