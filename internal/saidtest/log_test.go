package saidtest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLogTakesWholeLinesFromMany(t *testing.T) {
	const writers, lines = 8, 100
	var log Log
	var all sync.WaitGroup
	for w := range writers {
		all.Add(1)
		go func() {
			defer all.Done()
			for range lines {
				fmt.Fprintf(&log, "line of %d\n", w)
				_ = log.String()
			}
		}()
	}
	all.Wait()
	for w := range writers {
		require.Equal(t, lines, strings.Count(log.String(), fmt.Sprintf("line of %d\n", w)))
	}
}
