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
		s := f.register.catch(victim)
		var inside Entry
		select {
		case inside = <-s.caught:
		case <-time.After(patience):
			require.FailNow(t, "the victim holds nothing", "node %d", victim)
		}
		f.kill(victim)
		s.free()

		next := func(e Entry) bool { return e.Key == inside.Key && e.Token > inside.Token }
		if round == 1 {
			// Nobody tells the group that the holder is dead.
			f.awaitEntry(fmt.Sprintf("the next holder of %q after node %d was killed", inside.Key, victim), 0, next)
		}
		before := f.register.size()
		p := f.start(victim)
		p.ask("StartLoad", work, &Nothing{})
		f.awaitEntry(fmt.Sprintf("node %d to hold something again", victim), before, func(e Entry) bool { return e.Node == victim })
		f.awaitEntry(fmt.Sprintf("the next holder of %q", inside.Key), 0, next)
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
	f.register.check(t, f.members(), keys)
	for _, number := range f.members() {
		f.close(number)
	}
}
