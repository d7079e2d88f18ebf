package locktest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLeaks(t *testing.T) {
	mine, others := newLeaks(), newLeaks()
	require.Empty(t, mine.left())
	end := make(chan struct{})
	started := make(chan struct{})
	mine.watch(func() {
		go func() {
			go func() { // a goroutine hands the label down
				close(started)
				<-end
			}()
		}()
	})
	<-started
	require.Contains(t, mine.wait(time.Millisecond), "TestLeaks")
	require.Empty(t, others.left())
	close(end)
	require.Empty(t, mine.wait(time.Minute))
}
