package drivertest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheDocsHaveTheStatementsThatAreTested(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "fencing", "sql.md"))
	require.NoError(t, err)
	for _, statement := range []string{plainUpdate, plainInsert} {
		require.Contains(t, string(page), "```sql\n"+statement+"\n```")
	}
}
