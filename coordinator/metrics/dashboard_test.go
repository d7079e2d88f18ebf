package metrics_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// dashboard is what the tests read of Grafana's.
type dashboard struct {
	Title         string
	SchemaVersion int
	Templating    struct {
		List []struct {
			Name, Type string
			Datasource *datasource
			Query      any
		}
	}
	Panels []panel
}

type datasource struct{ Type, UID string }

type panel struct {
	ID                       int
	Type, Title, Description string
	Datasource               *datasource
	GridPos                  struct{ X, Y, W, H int }
	FieldConfig              struct{ Defaults struct{ Unit string } }
	Targets                  []struct {
		RefID, Expr, LegendFormat string
		Datasource                *datasource
	}
}

// gridWidth is how many columns a dashboard has.
const gridWidth = 24

func readDashboard(t testing.TB) dashboard {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "grafana", "palisade.json"))
	require.NoError(t, err)
	var d dashboard
	require.NoError(t, json.Unmarshal(text, &d))
	return d
}

// problems returns what is wrong with a dashboard, its queries left out.
func (d dashboard) problems() (found []string) {
	wrong := func(p panel, format string, args ...any) {
		found = append(found, fmt.Sprintf("panel %q: ", p.Title)+fmt.Sprintf(format, args...))
	}
	type cell struct{ x, y int }
	taken := map[cell]string{}
	ids := map[int]bool{}
	top, bottom := 0, 0 // of the row, and of all that came
	for _, p := range d.Panels {
		if ids[p.ID] || p.ID == 0 {
			wrong(p, "its id is not its own")
		}
		ids[p.ID] = true
		if p.Title == "" {
			wrong(p, "it has no title")
		}
		g := p.GridPos
		if g.X < 0 || g.Y < 0 || g.W < 1 || g.H < 1 || g.X+g.W > gridWidth {
			wrong(p, "it is not in the grid")
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other, is := taken[cell{x, y}]; is {
					wrong(p, "it is where %q is", other)
					x = g.X + g.W // once is enough
					break
				}
				taken[cell{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			if g.W != gridWidth || g.Y < bottom {
				wrong(p, "a row begins below all that is before it")
			}
			top = g.Y + g.H
		}
		bottom = max(bottom, g.Y+g.H)
		if p.Type == "row" {
			continue
		}
		if g.Y < top {
			wrong(p, "it is above its row")
		}
		if p.Description == "" || p.FieldConfig.Defaults.Unit == "" {
			wrong(p, "it has no description or no unit")
		}
		if len(p.Targets) == 0 {
			wrong(p, "it has no query")
		}
		refs := map[string]bool{}
		for _, target := range p.Targets {
			if refs[target.RefID] || target.RefID == "" {
				wrong(p, "two queries have one name")
			}
			refs[target.RefID] = true
			if target.LegendFormat == "" {
				wrong(p, "a query has no legend")
			}
			for _, source := range []*datasource{p.Datasource, target.Datasource} {
				if source == nil || *source != (datasource{"prometheus", "${datasource}"}) {
					wrong(p, "its data source is not the variable's")
				}
			}
		}
	}
	return found
}

func TestTheDashboardIsInOrder(t *testing.T) {
	d := readDashboard(t)
	require.Empty(t, d.problems())
	require.Equal(t, "Palisade", d.Title)
	require.GreaterOrEqual(t, d.SchemaVersion, 38, "that of Grafana 10")
	var variables, rows []string
	for _, v := range d.Templating.List {
		variables = append(variables, v.Type+" "+v.Name)
	}
	require.Equal(t, []string{"datasource datasource", "query job", "query instance"}, variables)
	for _, p := range d.Panels {
		if p.Type == "row" {
			rows = append(rows, p.Title)
		}
	}
	require.Equal(t, []string{"Waiting", "Holding", "Losses and refusals", "Groups and Raft", "Process and disk"}, rows)
}

func TestTheDashboardNamesWhatIsThere(t *testing.T) {
	c := catalogueOf(t)
	d := readDashboard(t)
	for _, v := range d.Templating.List[1:] {
		text := fmt.Sprint(v.Query.(map[string]any)["query"])
		_, text, found := strings.Cut(text, "label_values(")
		require.True(t, found, text)
		series, label, found := strings.Cut(strings.TrimSuffix(text, ")"), ", ")
		require.True(t, found, text)
		require.Empty(t, c.problems(series), text)
		q, err := readQuery(series)
		require.NoError(t, err)
		require.Contains(t, c[q.series[0].name], label)
		require.Equal(t, v.Name, label)
	}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			require.Empty(t, c.problems(target.Expr), "%s: %s", p.Title, target.Expr)
			q, err := readQuery(target.Expr)
			require.NoError(t, err)
			for _, s := range q.series {
				require.Contains(t, s.matchers, matcher{"job", "=", "$job"}, "%s: %s", p.Title, target.Expr)
				require.Contains(t, s.matchers, matcher{"instance", "=~", "$instance"}, "%s: %s", p.Title, target.Expr)
			}
			for _, match := range strings.Split(target.LegendFormat, "{{")[1:] {
				label, _, _ := strings.Cut(match, "}}")
				require.Contains(t, c[q.series[0].name], label, "%s: its legend", p.Title)
				require.True(t, len(q.labels) == 0 || slices.Contains(q.labels, label), "%s: nothing of its legend is left", p.Title)
			}
		}
	}
}

// What a node measures and no panel shows, nobody looks at.
func TestTheDashboardShowsEverySeries(t *testing.T) {
	var shown []string
	for _, p := range readDashboard(t).Panels {
		for _, target := range p.Targets {
			q, err := readQuery(target.Expr)
			require.NoError(t, err)
			for _, s := range q.series {
				for _, suffix := range []string{"_bucket", "_sum", "_count"} {
					s.name = strings.TrimSuffix(s.name, suffix)
				}
				shown = append(shown, s.name)
			}
		}
	}
	for name := range describedLabels(t) {
		require.True(t, slices.Contains(shown, name), name)
	}
}

func TestProblemsOfADashboard(t *testing.T) {
	well := func() dashboard {
		var d dashboard
		require.NoError(t, json.Unmarshal([]byte(`{"panels": [
			{"id": 1, "type": "row", "title": "Row", "gridPos": {"x": 0, "y": 0, "w": 24, "h": 1}},
			{"id": 2, "type": "stat", "title": "A", "description": "It is A.", "datasource": {"type": "prometheus", "uid": "${datasource}"},
				"gridPos": {"x": 0, "y": 1, "w": 12, "h": 8}, "fieldConfig": {"defaults": {"unit": "s"}},
				"targets": [{"refId": "A", "expr": "palisade_up", "legendFormat": "up", "datasource": {"type": "prometheus", "uid": "${datasource}"}}]}
		]}`), &d))
		return d
	}
	require.Empty(t, well().problems())
	for want, spoil := range map[string]func(*dashboard){
		`panel "A": its id is not its own`:                      func(d *dashboard) { d.Panels[1].ID = 1 },
		`panel "": it has no title`:                             func(d *dashboard) { d.Panels[1].Title = "" },
		`panel "A": it is not in the grid`:                      func(d *dashboard) { d.Panels[1].GridPos.X = 13 },
		`panel "A": it is where "Row" is`:                       func(d *dashboard) { d.Panels[1].GridPos.Y = 0 },
		`panel "Row": a row begins below all that is before it`: func(d *dashboard) { slices.Reverse(d.Panels) },
		`panel "A": it is above its row`:                        func(d *dashboard) { d.Panels[0].GridPos.Y = 20 },
		`panel "A": it has no description or no unit`:           func(d *dashboard) { d.Panels[1].FieldConfig.Defaults.Unit = "" },
		`panel "A": it has no query`:                            func(d *dashboard) { d.Panels[1].Targets = nil },
		`panel "A": two queries have one name`:                  func(d *dashboard) { d.Panels[1].Targets = append(d.Panels[1].Targets, d.Panels[1].Targets[0]) },
		`panel "A": a query has no legend`:                      func(d *dashboard) { d.Panels[1].Targets[0].LegendFormat = "" },
		`panel "A": its data source is not the variable's`:      func(d *dashboard) { d.Panels[1].Targets[0].Datasource = nil },
	} {
		d := well()
		spoil(&d)
		require.Contains(t, d.problems(), want)
	}
}
