package locktest_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inner is a test inside a test: the kit may fail it, and what it does then is
// looked at. The embedded TB is nil: what the kit does not use is not there.
type inner struct {
	testing.TB
	outer *testing.T

	mu       sync.Mutex
	failed   bool
	said     []string
	cleanups []func()
}

// run runs test to its end, clean-up included.
func run(t *testing.T, test func(testing.TB)) *inner {
	t.Helper()
	r := &inner{outer: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer r.cleanUp()
		test(r)
	}()
	<-done
	return r
}

func (r *inner) cleanUp() {
	for i := len(r.cleanups) - 1; i >= 0; i-- {
		r.cleanups[i]()
	}
}

// text returns all that was logged.
func (r *inner) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.said, "\n")
}

func (r *inner) say(failed bool, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = r.failed || failed
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

func (r *inner) Helper() {}

func (r *inner) Logf(format string, args ...any) { r.say(false, format, args...) }

func (r *inner) Errorf(format string, args ...any) { r.say(true, format, args...) }

func (r *inner) Fatalf(format string, args ...any) {
	r.say(true, format, args...)
	runtime.Goexit()
}

func (r *inner) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

func (r *inner) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *inner) TempDir() string {
	dir, err := os.MkdirTemp(r.outer.TempDir(), "")
	require.NoError(r.outer, err)
	return dir
}
