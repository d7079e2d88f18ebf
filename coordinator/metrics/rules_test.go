package metrics_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert/yaml"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
)

var (
	rulesFile      = filepath.Join("..", "..", "docs", "prometheus", "palisade.rules.yml")
	rulesTestsFile = filepath.Join("..", "..", "docs", "prometheus", "palisade.rules_test.yml")
)

// rule is a rule of Prometheus: it alerts or it records.
type rule struct {
	Alert, Record, Expr, For string
	Labels, Annotations      map[string]string
}

// readRules returns the rules in the order of the file.
func readRules(t testing.TB) (rules []rule) {
	t.Helper()
	var file struct{ Groups []struct{ Rules []rule } }
	readYAML(t, rulesFile, &file)
	for _, group := range file.Groups {
		rules = append(rules, group.Rules...)
	}
	require.NotEmpty(t, rules)
	return rules
}

// readAlerts leaves out the rules that record.
func readAlerts(t testing.TB) []rule {
	t.Helper()
	return slices.DeleteFunc(readRules(t), func(r rule) bool { return r.Alert == "" })
}

func readYAML(t testing.TB, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, into), name)
}

// catalogueWithRules returns what a query can name where the rules are loaded.
func catalogueWithRules(t testing.TB) catalogue {
	t.Helper()
	c := catalogueOf(t)
	for _, r := range readRules(t) {
		if r.Record != "" {
			require.NotContains(t, c, r.Record, "recorded twice")
			c.record(r.Record)
		}
	}
	return c
}

func TestRulesNameWhatIsThere(t *testing.T) {
	c := catalogueWithRules(t)
	for _, r := range readRules(t) {
		require.Empty(t, c.problems(r.Expr), "%s%s: %s", r.Alert, r.Record, r.Expr)
	}
}

func TestEveryAlertHasASeverityAndAPlaceInTheGuide(t *testing.T) {
	const guide = "https://github.com/palisade-go/palisade/blob/main/docs/tuning.md#"
	for _, r := range readAlerts(t) {
		require.Contains(t, []string{"critical", "warning"}, r.Labels["severity"], r.Alert)
		require.NotEmpty(t, r.Annotations["summary"], r.Alert)
		require.Equal(t, guide+strings.ToLower(r.Alert), r.Annotations["runbook_url"], r.Alert)
	}
}

// What the rules say in numbers is what the library has.
func TestTheRulesHaveTheNumbersOfTheLibrary(t *testing.T) {
	exprs := map[string]string{}
	for _, r := range readRules(t) {
		exprs[r.Alert+r.Record] = r.Expr
	}
	require.Equal(t, fmt.Sprintf("vector(%v)", coordinator.DefaultTTL.Seconds()), exprs["palisade:ttl_seconds"])
	require.Equal(t, fmt.Sprintf("vector(%v)", coordinator.DefaultElectionTimeout.Seconds()), exprs["palisade:election_timeout_seconds"])
	require.Contains(t, exprs["PalisadeDiskShort"], fmt.Sprintf(" < %d * 2 ^ 20 ", coordinator.DiskSpaceAgain>>20))
	require.Contains(t, exprs["PalisadeDiskFilling"], fmt.Sprintf(" < %d * 2 ^ 20 ", coordinator.DiskSpaceMin>>20))
}

// ruleTests are the tests that promtool runs.
type ruleTests struct {
	Tests []struct {
		Name   string
		Series []struct{ Series string } `yaml:"input_series"`
		Alerts []struct {
			Name    string           `yaml:"alertname"`
			Time    string           `yaml:"eval_time"`
			Expects []map[string]any `yaml:"exp_alerts"`
		} `yaml:"alert_rule_test"`
	}
}

func TestEveryAlertFiresInOneTestAndIsSilentNearIt(t *testing.T) {
	var file ruleTests
	readYAML(t, rulesTestsFile, &file)
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, test := range file.Tests {
		for _, a := range test.Alerts {
			require.Equal(t, test.Name, a.Name, "a test is about one alert")
			if len(a.Expects) > 0 {
				fires[a.Name] = true
			} else {
				silent[a.Name] = true
			}
		}
	}
	for _, r := range readAlerts(t) {
		require.True(t, fires[r.Alert], "%s fires in no test", r.Alert)
		require.True(t, silent[r.Alert], "%s is silent in no test", r.Alert)
	}
}

// The tests of the rules give them the series that a node has, with all labels.
func TestTheTestsOfTheRulesHaveRealSeries(t *testing.T) {
	c := catalogueOf(t)
	var file ruleTests
	readYAML(t, rulesTestsFile, &file)
	require.NotEmpty(t, file.Tests)
	for _, test := range file.Tests {
		for _, in := range test.Series {
			require.Empty(t, c.problems(in.Series), "%s: %s", test.Name, in.Series)
			q, err := readQuery(in.Series)
			require.NoError(t, err)
			require.Len(t, q.series[0].matchers, len(c[q.series[0].name]), "%s: %s lacks labels", test.Name, in.Series)
		}
	}
}
