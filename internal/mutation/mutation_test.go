package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the repository.
const root = "../.."

func TestEachFaultStandsInTheSource(t *testing.T) {
	faults, err := readFaults("faults")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(faults), 40)
	for _, f := range faults {
		source, err := os.ReadFile(filepath.Join(root, f.file))
		require.NoError(t, err, f.name)
		broken, err := f.put(string(source))
		require.NoError(t, err)
		require.NotEqual(t, string(source), broken, f.name)
		for _, test := range f.tests {
			dir := strings.Fields(test)[0]
			tests, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
			require.NoError(t, err)
			require.NotEmpty(t, tests, "%s: %s has no tests", f.name, dir)
		}
	}
}
