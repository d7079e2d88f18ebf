package report

import (
	"fmt"
	"html"
	"io"

	"github.com/palisade-go/palisade/bench/measure"
	"github.com/palisade-go/palisade/bench/workload"
)

// Chart is some panels in one picture. A panel has one workload and metric, and
// a bar for each peer. All bars of a panel begin at zero and have one scale.
type Chart struct {
	File   string // its name, with .svg
	Title  string
	panels []panel
}

type panel struct {
	workload string
	metric   workload.Metric
	title    string
}

// Charts are those of a report.
var Charts = []Chart{
	{"own.svg", "Acquire and confirmed release, on own keys: pairs per second", []panel{
		{"own-1", workload.PairsPerSecond, "1 worker"}, {"own-16", workload.PairsPerSecond, "16 workers"},
		{"own-256", workload.PairsPerSecond, "256 workers"}, {"own-1024", workload.PairsPerSecond, "1,024 workers"},
	}},
	{"latency.svg", "How long an acquire takes, on own keys: milliseconds", []panel{
		{"own-1", workload.AcquireP50, "1 worker, p50"}, {"own-1", workload.AcquireP99, "1 worker, p99"},
		{"own-256", workload.AcquireP50, "256 workers, p50"}, {"own-256", workload.AcquireP99, "256 workers, p99"},
	}},
	{"one.svg", "Workers that take turns on one key: hand-overs per second", []panel{
		{"one-16", workload.PairsPerSecond, "16 workers"}, {"one-256", workload.PairsPerSecond, "256 workers"},
	}},
	{"groups.svg", "256 workers on own keys, by groups; and 16 workers on 16 keys each: pairs per second", []panel{
		{"groups-1", workload.PairsPerSecond, "1 group"}, {"groups-8", workload.PairsPerSecond, "8 groups"},
		{"groups-64", workload.PairsPerSecond, "64 groups"}, {"many-16", workload.PairsPerSecond, "16 keys at once"},
	}},
	{"death.svg", "After a death, until the next grant: milliseconds", []panel{
		{"leader", workload.ToNextGrant, "a leader's"}, {"holder", workload.ToNextGrant, "a holder's, T = 5 s"},
	}},
	{"cost.svg", "What it costs, all members together", []panel{
		{"disk", workload.SyncsPerPair, "syncs for a pair"}, {"disk", workload.BytesPerPair, "bytes written for a pair"},
		{"idle", workload.CPU, "idle: % of a core"},
	}},
}

// The sizes of a chart, in pixels. Panels stand in two columns.
const (
	panelWidth  = 380
	labelWidth  = 78
	valueWidth  = 70
	barHeight   = 16
	barStep     = 24
	titleHeight = 34
	headHeight  = 26
	panelGap    = 14
	columns     = 2
)

// style has colours that can be read on white and on black; the words follow the
// reader's theme.
const style = `<style>
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 14px }
.head { font-weight: 600 }
.value { fill: #59636e }
.ours { fill: #0a7d5a }
.other { fill: #8c96a3 }
.spread { stroke: #1f2328; stroke-width: 1.5 }
.axis { stroke: #8c96a3; stroke-width: 1 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .value { fill: #9da7b3 }
  .ours { fill: #2fbf8f }
  .other { fill: #6e7681 }
  .spread { stroke: #e6edf3 }
}
</style>
`

// drawn is a panel that has numbers.
type drawn struct {
	title string
	bars  []bar
}

type bar struct {
	peer string
	measure.Spread
}

// WriteChart draws a chart of the results as SVG. It returns false, and writes
// nothing, when there are no numbers for it.
func (r *Results) WriteChart(w io.Writer, c Chart) (bool, error) {
	var panels []drawn
	for _, p := range c.panels {
		d := drawn{title: p.title}
		for _, peer := range r.peers(p.workload) {
			if s := r.Spread(p.workload, peer, p.metric.Name); s.Rounds > 0 {
				d.bars = append(d.bars, bar{peer, s})
			}
		}
		if len(d.bars) > 0 {
			panels = append(panels, d)
		}
	}
	if len(panels) == 0 {
		return false, nil
	}
	rows, height := 0, titleHeight
	for i := 0; i < len(panels); i += columns {
		height += rowHeight(panels[i:min(i+columns, len(panels))])
		rows++
	}
	out := &writer{w: w}
	out.printf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n",
		columns*panelWidth, height, columns*panelWidth, height)
	out.printf("<title>%s</title>\n%s", html.EscapeString(c.Title), style)
	out.printf("<text class=\"title\" x=\"4\" y=\"18\">%s</text>\n", html.EscapeString(c.Title))
	top := titleHeight
	for i := 0; i < len(panels); i += columns {
		row := panels[i:min(i+columns, len(panels))]
		for column, d := range row {
			d.draw(out, column*panelWidth, top)
		}
		top += rowHeight(row)
	}
	out.printf("</svg>\n")
	return true, out.err
}

func rowHeight(row []drawn) int {
	most := 0
	for _, d := range row {
		most = max(most, len(d.bars))
	}
	return headHeight + most*barStep + panelGap
}

// draw writes a panel with its upper left corner at a point.
func (d drawn) draw(out *writer, left, top int) {
	out.printf("<text class=\"head\" x=\"%d\" y=\"%d\">%s</text>\n", left+4, top+14, html.EscapeString(d.title))
	most := 0.0
	for _, b := range d.bars {
		most = max(most, b.Most)
	}
	scale := 0.0 // of a panel in which all is zero
	if most > 0 {
		scale = float64(panelWidth-labelWidth-valueWidth) / most
	}
	zero := left + labelWidth
	for i, b := range d.bars {
		y := top + headHeight + i*barStep
		class := "other"
		if b.peer == palisade {
			class = "ours"
		}
		at := func(value float64) float64 { return float64(zero) + value*scale }
		out.printf("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", zero-6, y+barHeight-4, html.EscapeString(b.peer))
		out.printf("<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n", class, zero, y, b.Median*scale, barHeight)
		if b.Least < b.Most {
			middle := y + barHeight/2
			out.printf("<path class=\"spread\" d=\"M%.1f %dH%.1fM%.1f %dv8M%.1f %dv8\"/>\n",
				at(b.Least), middle, at(b.Most), at(b.Least), middle-4, at(b.Most), middle-4)
		}
		out.printf("<text class=\"value\" x=\"%.1f\" y=\"%d\">%s</text>\n", at(b.Most)+6, y+barHeight-4, number(b.Median))
	}
	bottom := top + headHeight + len(d.bars)*barStep
	out.printf("<path class=\"axis\" d=\"M%d %dV%d\"/>\n", zero, top+headHeight-4, bottom-4)
}

// writer keeps the first error.
type writer struct {
	w   io.Writer
	err error
}

func (w *writer) printf(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.w, format, args...)
	}
}
