package httpfence_test

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
	page, err := os.ReadFile("../../docs/fencing/http.md")
	require.NoError(t, err)
	var tests strings.Builder
	for _, pattern := range []string{"*_test.go", "diskstore/*_test.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, name := range files {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			tests.Write(text)
		}
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(string(page), -1)
	require.Greater(t, len(named), 20)
	for _, name := range named {
		require.Contains(t, tests.String(), "\nfunc "+name[1]+"(")
	}
}
