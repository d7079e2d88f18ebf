package locktest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeptLogKeepsTheEnd(t *testing.T) {
	l := &keptLog{}
	l.logger().Info("the beginning")
	for range keptMax {
		l.logger().Debug("nobody asked for that")
		l.logger().Info("and so on")
	}
	l.logger().Info("the end")
	require.LessOrEqual(t, len(l.String()), keptMax)
	require.NotContains(t, l.String(), "the beginning")
	require.NotContains(t, l.String(), "nobody asked for that")
	require.True(t, strings.HasSuffix(l.String(), "msg=\"the end\"\n"))
}
