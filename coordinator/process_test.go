package coordinator_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
)

// Three processes over TCP work on a few keys. One of them is ended by SIGKILL
// while it holds a key, and started again with the same directory, three times.
// The register knows of all holders: a token that it refuses must be of a lease
// that is lost.
func TestOneNodeKilledUnderLoadAndRestarted(t *testing.T) {
	t.Parallel()
	const election, ttl = 400 * time.Millisecond, 2 * time.Second
	keys := []string{"stock", "invoices", "mail", "index"}
	f := newFleet(t, 3, election, ttl)
	work := Load{Workers: 2 * len(keys), Keys: keys}
	for _, number := range f.members() {
		f.start(number)
	}
	f.ready()
	for _, p := range f.running {
		p.ask("StartLoad", work, &Nothing{})
	}
	for round := 1; round <= 3; round++ {
		victim := coordinator.NodeID(round)
		mine := func(e Entry) bool { return e.Node == victim }
		s, from := f.register.catch(victim)
		f.register.await(t, fmt.Sprintf("node %d to hold something", victim), from, mine)
		inside := <-s.caught
		f.kill(victim)
		s.free()

		next := func(e Entry) bool { return e.Key == inside.Key && e.Token > inside.Token }
		heir := fmt.Sprintf("the next holder of %q after node %d was killed", inside.Key, victim)
		if round == 1 {
			f.register.await(t, heir, 0, next) // nobody has told the group that the holder is dead
		}
		before := f.register.size()
		p := f.start(victim)
		p.ask("StartLoad", work, &Nothing{})
		f.register.await(t, fmt.Sprintf("node %d to hold something again", victim), before, mine)
		f.register.await(t, heir, 0, next)
	}
	back := f.register.size()
	for _, number := range f.members() {
		for _, key := range keys {
			f.register.await(t, fmt.Sprintf("node %d to hold %q", number, key), back, func(e Entry) bool {
				return e.Node == number && e.Key == key
			})
		}
	}
	for _, p := range f.running {
		p.ask("Rest", Nothing{}, &Nothing{})
	}
	dumps := f.equalDumps()
	for i, dump := range dumps {
		require.Empty(t, requestsIn(dump), "group %d has something left:\n%s", i+1, dump)
		for _, number := range f.members() {
			require.Contains(t, dump, fmt.Sprintf("presence %d incarnation=2 ", number), "group %d", i+1)
		}
	}
	f.register.check(t)
	for _, number := range f.members() {
		f.close(number)
	}
}
