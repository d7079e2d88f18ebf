package main

import (
	"context"
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

var seedFlag = flag.Uint64("seed", 0, "what TestOwnersThatAreStoppedAnywhere draws; 0: another seed each time")

// stoppable is an owner of the lease that is stopped before each of its writes,
// and never learns that its lease is lost.
type stoppable struct {
	at   chan bool     // true: it is stopped again, false: it has ended
	goOn chan struct{} // never closed: each owner is let go on to its end
	err  error         // of its job, once it has ended
}

// begin starts an owner, and returns when it is stopped or has ended.
func (o *office) begin(t token.Token) (owner *stoppable, more bool) {
	owner = &stoppable{at: make(chan bool), goOn: make(chan struct{})}
	j := o.job()
	j.look = func(page) {
		owner.at <- true
		<-owner.goOn
	}
	go func() {
		owner.err = j.run(context.Background(), newLease(t))
		owner.at <- false
	}()
	return owner, <-owner.at
}

// step lets a stopped owner go on to its next write, or to its end.
func (owner *stoppable) step() (more bool) {
	owner.goOn <- struct{}{}
	return <-owner.at
}

// Owners come one after the other, and orders between them. Each owner is
// stopped before each of its writes, and goes on at any later time, with other
// owners having come and written, or not.
func TestOwnersThatAreStoppedAnywhere(t *testing.T) {
	seed := *seedFlag
	for seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("replay with: go test -run '^%s$' -seed=%d", t.Name(), seed)
	random := rand.New(rand.NewPCG(seed, 0))
	o := openOffice(t, random.IntN(manyOrders))
	const owners, actionsMax = 25, 400
	var (
		stopped []*stoppable
		last    token.Token
		before  export
		refused int
		written number
	)
	for actions := 0; last < owners; actions++ {
		require.Less(t, actions, actionsMax, "the story comes to an end")
		var (
			owner *stoppable
			more  bool
		)
		switch action := random.IntN(5); {
		case action == 0:
			o.order(random.IntN(ordersMax / 2))
			continue
		case action == 1 || len(stopped) == 0:
			last++
			owner, more = o.begin(last)
		default:
			i := random.IntN(len(stopped))
			owner = stopped[i]
			stopped = append(stopped[:i], stopped[i+1:]...)
			more = owner.step()
		}
		if more {
			stopped = append(stopped, owner)
		} else if owner.err != nil {
			require.ErrorIs(t, owner.err, token.ErrStale)
			refused++
		}
		now := facts(t, o.ledger, month)
		require.GreaterOrEqual(t, now.orders, before.orders, "what was exported is lost")
		require.Empty(t, now.twice)
		require.Equal(t, now.ordered.orders-now.orders, len(now.missing), "the sums are those of the pages")
		before = now
	}
	for _, owner := range stopped {
		for more := true; more; {
			more = owner.step()
		}
		if owner.err != nil {
			refused++
		}
	}
	require.NotZero(t, refused, "somebody was late")
	require.NoError(t, o.job().run(context.Background(), newLease(last+1)))
	end := facts(t, o.ledger, month)
	require.True(t, end.complete(), "%v", end)
	for _, line := range o.said {
		if line[0] == 'w' {
			written++
		}
	}
	require.Equal(t, written, end.taken, "a number was taken for each page that an owner says it wrote")
}
