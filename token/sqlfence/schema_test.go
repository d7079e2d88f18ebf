package sqlfence

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files")

// TestSchemaGolden pins the tables: they are in databases of users. Another
// form gets another SchemaVersion and another file.
func TestSchemaGolden(t *testing.T) {
	require.Equal(t, 1, SchemaVersion)
	for d, name := range map[Dialect]string{PostgreSQL: "postgresql", SQLite: "sqlite"} {
		golden := filepath.Join("testdata", "golden", name+"-1.sql")
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(golden), 0o755))
			require.NoError(t, os.WriteFile(golden, []byte(Schema(d)), 0o644))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		require.Equal(t, string(want), Schema(d))
	}
	require.Empty(t, Schema(0))
}

func TestASchemaIsSplitIntoItsStatements(t *testing.T) {
	for _, d := range []Dialect{PostgreSQL, SQLite} {
		list := statements(Schema(d))
		require.Len(t, list, 5, "%v", d)
		for _, statement := range list {
			require.NotContains(t, statement, ";", "%v: a semicolon in a comment would split it", d)
			require.Equal(t, 1, strings.Count(statement, "CREATE ")+strings.Count(statement, "INSERT "), statement)
		}
	}
}
