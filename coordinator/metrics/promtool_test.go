package metrics_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// promtool runs Prometheus' own tool in a directory, or skips the test.
func promtool(t *testing.T, dir string, args ...string) (said string, err error) {
	t.Helper()
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Skip("promtool is not installed; .ci/run gets it")
	}
	tool := exec.Command("promtool", args...)
	tool.Dir = dir
	out, err := tool.CombinedOutput()
	return string(out), err
}

func TestPromtoolAcceptsTheRulesAndTheirTests(t *testing.T) {
	dir := filepath.Dir(rulesFile)
	said, err := promtool(t, dir, "check", "rules", filepath.Base(rulesFile))
	require.NoError(t, err, said)
	said, err = promtool(t, dir, "test", "rules", filepath.Base(rulesTestsFile))
	require.NoError(t, err, said)
}

// Where three nodes give all their series, every query of the dashboard and of the
// guide, and all that the rules record, has an answer, and one that is a number.
func TestEveryQueryHasAnAnswer(t *testing.T) {
	queries := guideQueries(t)
	for _, p := range readDashboard(t).Panels {
		for _, target := range p.Targets {
			queries = append(queries, target.Expr)
		}
	}
	variables := strings.NewReplacer("$__rate_interval", "5m", "$job", "w", "$instance", ".*")
	for i, query := range queries {
		queries[i] = variables.Replace(query)
		require.NotContains(t, queries[i], "$")
	}
	var recording []rule
	for _, r := range readRules(t) {
		if r.Record != "" {
			recording = append(recording, r)
			queries = append(queries, r.Record)
		}
	}
	said, err := askPromtool(t, recording, queries)
	require.NoError(t, err, said)

	for what, query := range map[string]string{
		"another label on each side":      `palisade_group_waits / on (group, peer) palisade_peer_reached`,
		"many on each side":               `palisade_group_waits / on (job) palisade_group_leases`,
		"a quantile of nothing":           `histogram_quantile(0.5, rate(palisade_commit_seconds_bucket[5m]) * 0)`,
		"what is not there":               `palisade_down`,
		"what promtool does not let pass": `rate(palisade_up)`,
	} {
		_, err := askPromtool(t, nil, []string{query})
		require.Error(t, err, what)
	}
}

// askPromtool returns an error if a query has no answer. Promtool tests alerts, so
// each query becomes one that fires when it has none.
func askPromtool(t *testing.T, recording []rule, queries []string) (said string, err error) {
	t.Helper()
	type object = map[string]any
	var rules, input, silent []object
	for _, r := range recording {
		rules = append(rules, object{"record": r.Record, "expr": r.Expr})
	}
	for i, query := range queries {
		name := fmt.Sprintf("Query%d", i)
		// What is not a number does not equal itself.
		rules = append(rules, object{"alert": name, "expr": fmt.Sprintf("absent((%s) == (%s))", query, query), "annotations": object{"query": query}})
		silent = append(silent, object{"alertname": name, "eval_time": "10m"})
	}
	for _, s := range everySeries(t) {
		input = append(input, object{"series": s.name, "values": s.values})
	}
	dir := t.TempDir()
	write := func(name string, content object) {
		// JSON is YAML, too.
		text, err := json.Marshal(content)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	write("rules.yml", object{"groups": []object{{"name": "queries", "rules": rules}}})
	write("test.yml", object{
		"rule_files": []string{"rules.yml"}, "evaluation_interval": "1m",
		"tests": []object{{"interval": "1m", "input_series": input, "alert_rule_test": silent}},
	})
	return promtool(t, dir, "test", "rules", "test.yml")
}

// sampled is a time series of ten minutes, as promtool writes it.
type sampled struct{ name, values string }

// everySeries returns all series of three nodes. What counts rises, and so does a
// gauge: for a query that is no difference.
func everySeries(t *testing.T) (all []sampled) {
	c := catalogueOf(t)
	some := labelValues{"job": {"w"}, "instance": {"a", "b", "c"}, "group": {"1", "2"}, "peer": {"1", "2"}}
	for _, name := range slices.Sorted(maps.Keys(c)) {
		names := []string{""}
		for _, label := range slices.Sorted(maps.Keys(c[name])) {
			values := c[name][label]
			if values == nil {
				values = some[label]
			}
			require.NotEmpty(t, values, label)
			var longer []string
			for _, before := range names {
				for _, value := range values {
					longer = append(longer, fmt.Sprintf("%s, %s=%q", before, label, value))
				}
			}
			names = longer
		}
		for _, labels := range names {
			step := 1
			for i, bound := range c[name]["le"] {
				if strings.Contains(labels, fmt.Sprintf("le=%q", bound)) {
					step = i + 1 // each bucket has what those below have
				}
			}
			all = append(all, sampled{name + "{" + strings.TrimPrefix(labels, ", ") + "}", fmt.Sprintf("1+%dx10", step)})
		}
	}
	return all
}
