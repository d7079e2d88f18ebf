package workload

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSelectKnowsNamesAndFamilies(t *testing.T) {
	for _, c := range []struct{ list, want string }{
		{"", names(All())},
		{"own-16", "own-16"},
		{"one,own-1", "own-1 one-16 one-256"}, // in the order in which they run
		{"idle", "idle"},                      // it has this name, though idle-64 begins with it
		{"groups", "groups-1 groups-8 groups-64"},
		{"leases,leases", "leases"},
	} {
		chosen, err := Select(c.list)
		require.NoError(t, err)
		require.Equal(t, c.want, names(chosen), "of %q", c.list)
	}
	for _, list := range []string{"none", "own-1,", "own-", "OWN-1", "own-2"} {
		_, err := Select(list)
		require.ErrorContains(t, err, "there is no workload", "of %q", list)
	}
}

func TestEveryWorkloadAndMetricHasItsName(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range All() {
		require.False(t, seen[w.Name], "%s is there twice", w.Name)
		seen[w.Name] = true
		require.NotEmpty(t, w.About)
		require.NotNil(t, w.Measure)
		require.Equal(t, strings.ToLower(w.Name), w.Name)
	}
	metrics := map[string]bool{}
	for _, m := range Metrics {
		require.False(t, metrics[m.Name], "%s is there twice", m.Name)
		metrics[m.Name] = true
	}
}
