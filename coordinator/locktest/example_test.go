package locktest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/token"
)

// exampleT stands in for the *testing.T that a test has and an example has
// not. It is enough for a cluster that works.
type exampleT struct {
	testing.TB
	cleanups []func()
}

func (t *exampleT) Helper()             {}
func (t *exampleT) Failed() bool        { return false }
func (t *exampleT) Cleanup(done func()) { t.cleanups = append(t.cleanups, done) }

func (t *exampleT) TempDir() string {
	dir, err := os.MkdirTemp("", "locktest")
	if err != nil {
		panic(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (t *exampleT) end() {
	for i := len(t.cleanups) - 1; i >= 0; i-- {
		t.cleanups[i]()
	}
}

// A holder that is cut off loses its lease by its own clock. Then the next in
// line is served, with a greater token.
func ExampleCluster_Isolate() {
	t := &exampleT{} // in a test, its *testing.T
	defer t.end()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	cluster := locktest.New(t, 3)
	first, err := cluster.Node(1).Coordinator().Acquire(ctx, "export")
	if err != nil {
		fmt.Println(err)
		return
	}
	cluster.Isolate(1)
	second, err := cluster.Node(2).Coordinator().Acquire(ctx, "export")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("the first still holds it:", first.Held())
	fmt.Println("the second has a greater token:", second.Token() > first.Token())
	fmt.Println("frames were lost:", cluster.Traffic(1, 2).Dropped > 0)
	// Output:
	// the first still holds it: false
	// the second has a greater token: true
	// frames were lost: true
}

// A lease knows of a suspension without being told: the first question
// compares the clock.
func ExampleClock_Advance() {
	t := &exampleT{} // in a test, its *testing.T
	defer t.end()

	cluster := locktest.New(t, 1)
	node := cluster.Node(1)
	lease, err := node.Coordinator().Acquire(context.Background(), "export")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("held:", lease.Held())
	node.Clock().Advance(locktest.TTL)
	fmt.Println("held:", lease.Held())
	// Output:
	// held: true
	// held: false
}

// A holder whose process stands still believes in its lease after another has
// got the key. No lock can help that; the resource's guard can.
func ExampleClock_Freeze() {
	t := &exampleT{} // in a test, its *testing.T
	defer t.end()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	cluster := locktest.New(t, 3)
	paused, err := cluster.Node(1).Coordinator().Acquire(ctx, "export")
	if err != nil {
		fmt.Println(err)
		return
	}
	cluster.Node(1).Clock().Freeze()
	cluster.Isolate(1)
	next, err := cluster.Node(2).Coordinator().Acquire(ctx, "export")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("both believe in theirs:", paused.Held() && next.Held())
	var guard token.Guard
	fmt.Println("the next writes:", guard.Accept("export", next.Token()))
	fmt.Println("the paused is refused:", errors.Is(guard.Accept("export", paused.Token()), token.ErrStale))
	// Output:
	// both believe in theirs: true
	// the next writes: <nil>
	// the paused is refused: true
}

// A lease survives a change of leader, and keeps its token.
func ExampleCluster_MoveLeader() {
	t := &exampleT{} // in a test, its *testing.T
	defer t.end()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	cluster := locktest.New(t, 3)
	lease, err := cluster.Node(1).Coordinator().Acquire(ctx, "export", coordinator.WithTTL(time.Minute))
	if err != nil {
		fmt.Println(err)
		return
	}
	before := lease.Token()
	leader, err := cluster.WaitLeader(ctx, lease.Key())
	if err != nil {
		fmt.Println(err)
		return
	}
	next := leader%3 + 1
	if err := cluster.MoveLeader(ctx, lease.Key(), next); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("held:", lease.Held(), "with the same token:", lease.Token() == before)
	// Output:
	// held: true with the same token: true
}
