package pebblefence

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTestsThatThePageNamesAreThere: no claim without its test.
func TestTestsThatThePageNamesAreThere(t *testing.T) {
	page, err := os.ReadFile("../../docs/fencing/pebble.md")
	require.NoError(t, err)
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	var tests strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		tests.Write(text)
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(string(page), -1)
	require.Greater(t, len(named), 10)
	for _, name := range named {
		require.Contains(t, tests.String(), "\nfunc "+name[1]+"(")
	}
}
