package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// The markers of a page, between which a run writes.
const (
	PageBegin = "<!-- results of a run: begin -->"
	PageEnd   = "<!-- results of a run: end -->"
)

// errMarkers is the answer to a page without a place for the results.
var errMarkers = errors.New("the page has no lines " + PageBegin + " and " + PageEnd + ", in this order")

// WritePage returns a page with the results between its markers. charts are the
// files of the pictures that there are, below the directory dir as the page
// names it.
func (r *Results) WritePage(page, dir string, charts []Chart) (string, error) {
	before, rest, found := strings.Cut(page, PageBegin+"\n")
	_, after, ends := strings.Cut(rest, PageEnd+"\n")
	if !found || !ends {
		return "", errMarkers
	}
	var b bytes.Buffer
	b.WriteString(before + PageBegin + "\n\n")
	r.writeCircumstances(&b)
	for _, c := range charts {
		fmt.Fprintf(&b, "![%s](%s/%s)\n\n", c.Title, dir, c.File)
	}
	r.WriteTables(&b)
	b.WriteString("\n" + PageEnd + "\n" + after)
	return b.String(), nil
}

// writeCircumstances writes where, when and how the numbers came about.
func (r *Results) writeCircumstances(w io.Writer) {
	m := r.Machine
	fmt.Fprintf(w, "Measured on %s in %s with\n\n    %s\n\n", r.Began.Format("2 January 2006"), r.Took, r.Command)
	fmt.Fprintf(w, "on %s with %d cores and %s GiB of memory, Linux %s, %s, %s.", or(m.Processor, "an unknown processor"),
		m.Cores, number(float64(m.MemoryBytes>>20)/1024), or(m.Kernel, "?"), or(m.FileSystem, "an unknown file system"), m.Go)
	fmt.Fprintf(w, " Before it %s processes wanted a core.", number(m.LoadBefore))
	if r.Revision != "" {
		fmt.Fprintf(w, " Revision %s.", r.Revision)
	}
	var versions []string
	for _, peer := range slices.Sorted(maps.Keys(r.Peers)) {
		versions = append(versions, peer+": "+r.Peers[peer])
	}
	fmt.Fprintf(w, "\n\nVersions: %s.\n\n", strings.Join(versions, ", "))
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
