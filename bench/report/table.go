package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/palisade-go/palisade/bench/measure"
	"github.com/palisade-go/palisade/bench/workload"
)

// number writes a number with three digits that count, and its thousands apart.
func number(f float64) string {
	magnitude := math.Abs(f)
	switch {
	case magnitude >= 100 || f == math.Trunc(f) && magnitude >= 10:
		return thousands(strconv.FormatFloat(f, 'f', 0, 64))
	case magnitude >= 10:
		return strconv.FormatFloat(f, 'f', 1, 64)
	case f == math.Trunc(f):
		return strconv.FormatFloat(f, 'f', 0, 64)
	case magnitude >= 1:
		return strconv.FormatFloat(f, 'f', 2, 64)
	default:
		return strconv.FormatFloat(f, 'f', 3, 64)
	}
}

func thousands(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// spread writes a median, and its bounds when there were several rounds.
func spread(s measure.Spread) string {
	switch {
	case s.Rounds == 0:
		return "-"
	case s.Rounds == 1 || s.Least == s.Most:
		return number(s.Median)
	default:
		return fmt.Sprintf("%s (%s–%s)", number(s.Median), number(s.Least), number(s.Most))
	}
}

// table is rows of cells under a head, as Markdown has it; it can be read as
// plain text too.
type table struct{ rows [][]string }

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) write(w io.Writer) {
	widths := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for n, row := range t.rows {
		t.line(w, row, widths)
		if n == 0 {
			rule := make([]string, len(widths))
			for i := range rule {
				rule[i] = strings.Repeat("-", max(widths[i], 3))
				if i > 0 {
					rule[i] = rule[i][1:] + ":"
				}
			}
			t.line(w, rule, widths)
		}
	}
}

func (t *table) line(w io.Writer, row []string, widths []int) {
	var b strings.Builder
	for i, cell := range row {
		room := strings.Repeat(" ", max(widths[i]-len([]rune(cell)), 0))
		if i == 0 {
			b.WriteString("| " + cell + room)
		} else {
			b.WriteString(" | " + room + cell)
		}
	}
	fmt.Fprintln(w, b.String()+" |")
}

// peers returns those that have a sample in a workload, in the order in which
// they came first.
func (r *Results) peers(name string) []string {
	var list []string
	for _, s := range r.Samples {
		if s.Workload == name && !slices.Contains(list, s.Peer) {
			list = append(list, s.Peer)
		}
	}
	return list
}

// WriteTables writes the verdicts, a table for each workload, and what was not
// measured.
func (r *Results) WriteTables(w io.Writer) {
	r.writeVerdicts(w)
	r.writeFloor(w)
	for _, l := range workload.All() {
		if peers := r.peers(l.Name); len(peers) > 0 {
			fmt.Fprintf(w, "\n**%s**: %s\n\n", l.Name, l.About)
			r.writeWorkload(w, l.Name, peers)
		}
	}
	if len(r.Gaps) > 0 {
		fmt.Fprintf(w, "\nNot measured:\n\n")
		for _, line := range r.gaps() {
			fmt.Fprintln(w, "- "+line)
		}
	}
}

// gaps writes what was not measured, in one line for each peer and reason.
func (r *Results) gaps() []string {
	type cause struct {
		peer, why string
		failed    bool
	}
	var order []cause
	workloads := map[cause][]string{}
	for _, g := range r.Gaps {
		c := cause{g.Peer, g.Why, g.Failed}
		if !slices.Contains(order, c) {
			order = append(order, c)
		}
		if g.Workload != "" {
			workloads[c] = append(workloads[c], g.Workload)
		}
	}
	var lines []string
	for _, c := range order {
		line := c.peer
		if names := workloads[c]; len(names) > 0 {
			line += " (" + strings.Join(names, ", ") + ")"
		}
		if c.failed {
			line += " FAILED"
		}
		lines = append(lines, line+": "+c.why)
	}
	return lines
}

func (r *Results) writeVerdicts(w io.Writer) {
	var t table
	t.row("target", "limit", "got", "verdict")
	for _, v := range r.Verdicts {
		t.row(v.Target, v.relation(), spread(v.Got), v.Outcome)
	}
	t.write(w)
}

// writeWorkload writes a line for each metric, with the ratio of the library to
// every other peer. A ratio is that of the same round.
func (r *Results) writeWorkload(w io.Writer, name string, peers []string) {
	var t table
	head := []string{""}
	head = append(head, peers...)
	for _, p := range peers {
		if compared(p, peers) {
			head = append(head, palisade+" / "+p)
		}
	}
	t.row(head...)
	for _, m := range workload.Metrics {
		line := []string{m.Name}
		if m.Unit != "" && !strings.Contains(m.Name, "/s") {
			line[0] += ", " + m.Unit
		}
		measured := false
		for _, p := range peers {
			s := r.Spread(name, p, m.Name)
			measured = measured || s.Rounds > 0
			line = append(line, spread(s))
		}
		if !measured {
			continue
		}
		for _, p := range peers {
			if compared(p, peers) {
				line = append(line, spread(measure.RatioOf(r.Rounds(name, palisade, m.Name), r.Rounds(name, p, m.Name))))
			}
		}
		t.row(line...)
	}
	t.write(w)
}

// compared says whether a peer has a column of ratios.
func compared(peer string, peers []string) bool {
	return peer != palisade && slices.Contains(peers, palisade)
}

// Line writes numbers in one line, in the order of a table.
func Line(values map[string]float64) string {
	var parts []string
	for _, m := range workload.Metrics {
		if value, measured := values[m.Name]; measured {
			parts = append(parts, fmt.Sprintf("%s %s", m.Name, number(value)))
		}
	}
	return strings.Join(parts, ", ")
}
