package lint

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConcurrent(t *testing.T) {
	tree := source(t,
		"coordinator/open.go", "package p\n\nfunc f() { go f() }\n",
		"internal/plain/x.go", "package p\n",
		"statemachine/machine_test.go", "package p\n\nfunc f() { func() { go f() }() }\n",
		"token/guard.go", importing("sync"),
		"token/other.go", importing("sync/atomic"),
		"bench/go.mod", "module x\n",
		"bench/x.go", importing("sync"),
	)
	require.Equal(t, []string{"./coordinator", "./statemachine", "./token"}, Concurrent(tree))
}
