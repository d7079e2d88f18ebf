package main

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/token"
)

const month = "2026-11"

// office is a database with a guard, and what the jobs in it said.
type office struct {
	*ledger
	t     *testing.T
	guard fence
	said  []string
}

func openOffice(t *testing.T, orders int) *office {
	t.Helper()
	o := &office{ledger: openTestLedger(t), t: t}
	guard, err := openGuard(context.Background(), o.ledger)
	require.NoError(t, err)
	o.guard = guard
	o.order(orders)
	return o
}

// order lets orders come in.
func (o *office) order(count int) {
	o.t.Helper()
	require.NoError(o.t, o.add(context.Background(), month, count))
}

// job returns a job that nothing happens to.
func (o *office) job() *job {
	return &job{
		ledger: o.ledger, fence: o.guard, month: month, stepTime: time.Minute,
		work: func(context.Context, page) error { return nil },
		look: func(page) {},
		done: func(p page, r token.Receipt) {
			line := wrote
			if r.Repeated {
				line = repeated
			}
			n, err := strconv.Atoi(string(r.Value))
			require.NoError(o.t, err)
			o.said = append(o.said, line(p.step, number(n), r.Token))
		},
	}
}

// hears checks what was said since the last time.
func (o *office) hears(lines ...string) {
	o.t.Helper()
	require.Equal(o.t, lines, o.said)
	o.said = nil
}

// has checks that the month has so many orders on its pages, and how many
// numbers were taken for them.
func (o *office) has(orders int, taken number) {
	o.t.Helper()
	e := facts(o.t, o.ledger, month)
	require.Equal(o.t, orders, e.orders)
	require.Equal(o.t, taken, e.taken)
	require.Empty(o.t, e.twice)
	require.Len(o.t, e.missing, e.ordered.orders-orders)
}

func TestJobExportsEachOrderOnce(t *testing.T) {
	for _, c := range []struct {
		orders int
		pages  number
		steps  int
	}{
		{0, 0, 1}, {1, 1, 1}, {99, 1, 1}, {100, 1, 2}, {101, 2, 2}, {200, 2, 3}, {250, 3, 3},
	} {
		o, l := openOffice(t, c.orders), newLease(7)
		j := o.job()
		j.work = func(ctx context.Context, p page) error {
			deadline, bounded := ctx.Deadline()
			require.True(t, bounded)
			require.LessOrEqual(t, time.Until(deadline), j.stepTime)
			return nil
		}
		require.NoError(t, j.run(context.Background(), l))
		o.has(c.orders, c.pages)
		require.True(t, facts(t, o.ledger, month).complete())
		require.Len(t, o.said, int(c.pages))
		require.Len(t, l.ensured, c.steps, "%d orders: the lease is asked before each step", c.orders)
		for _, d := range l.ensured {
			require.Equal(t, time.Minute, d, "for a whole step")
		}
	}
}

func TestStepOfTheStoryFitsIntoTheWindow(t *testing.T) {
	require.Less(t, stepTime, shortTTL*9/10, "otherwise Ensure could never succeed")
}

func TestLeaseThatIsLost(t *testing.T) {
	ctx := context.Background()
	// lost runs a job that loses its lease, and checks that the first page is
	// all there is of it, and that another owner can end it.
	lost := func(t *testing.T, set func(*job, *testLease)) error {
		t.Helper()
		o, l := openOffice(t, manyOrders), newLease(7)
		j := o.job()
		set(j, l)
		err := j.run(ctx, l)
		require.ErrorIs(t, err, coordinator.ErrLeaseLost)
		require.ErrorContains(t, err, "step 2: ")
		o.has(ordersMax, 1)
		o.said = nil
		require.NoError(t, o.job().run(ctx, newLease(8)))
		o.hears(repeated(1, 1, 7), wrote(2, 2, 8), wrote(3, 3, 8))
		o.has(manyOrders, 3)
		return err
	}
	t.Run("BetweenTwoStepsBeginsNoOther", func(t *testing.T) {
		lost(t, func(j *job, l *testLease) {
			j.done = func(page, token.Receipt) { l.lose() }
			j.work = func(_ context.Context, p page) error {
				require.Equal(t, 1, p.step)
				return nil
			}
		})
	})
	t.Run("InTheWorkEndsIt", func(t *testing.T) {
		err := lost(t, func(j *job, l *testLease) {
			j.work = func(ctx context.Context, p page) error {
				if p.step < 2 {
					return nil
				}
				l.lose()
				<-ctx.Done()
				return ctx.Err()
			}
		})
		require.ErrorIs(t, err, context.Canceled, "the work's own error is there too")
	})
	t.Run("AfterTheWorkIsSeenBeforeTheWrite", func(t *testing.T) {
		lost(t, func(j *job, l *testLease) {
			j.fence = watched{j.fence, func(token.Write) {
				require.NoError(t, l.Err(), "nothing is presented to the fence")
			}}
			j.look = func(p page) {
				if p.step == 2 {
					l.gone.Store(true) // its context does not know yet
				}
			}
		})
	})
	t.Run("InTheTransactionRollsItBack", func(t *testing.T) {
		lost(t, func(j *job, l *testLease) {
			j.fence = midway{j.fence, func(w token.Write) {
				if w.Operation == "2026-11/step 2/orders 101-200" {
					l.lose()
				}
			}}
		})
	})
}

func TestOwnerAfterWhomAnotherCameDoesNotBegin(t *testing.T) {
	o := openOffice(t, 1)
	require.NoError(t, o.guard.Accept(context.Background(), token.Write{Resource: resourceOf(month), Token: 8}))
	j := o.job()
	j.work = func(context.Context, page) error {
		t.Error("nothing is to be done")
		return nil
	}
	require.ErrorIs(t, j.run(context.Background(), newLease(7)), token.ErrStale)
	o.has(0, 0)
}

func TestOwnerKeepsOthersOutBeforeItReads(t *testing.T) {
	o := openOffice(t, 1)
	j := o.job()
	j.work = func(ctx context.Context, p page) error {
		_, err := o.job().commit(ctx, 6, p)
		require.ErrorIs(t, err, token.ErrStale, "the owner before can't change what was read")
		return nil
	}
	require.NoError(t, j.run(context.Background(), newLease(7)))
	o.has(1, 1)
}

func TestStepThatTakesTooLongEnds(t *testing.T) {
	o := openOffice(t, 1)
	j := o.job()
	j.stepTime = 100 * time.Millisecond
	j.work = func(ctx context.Context, _ page) error {
		<-ctx.Done()
		return nil // it does not even say so
	}
	err := j.run(context.Background(), newLease(7))
	require.ErrorIs(t, err, errStepTime)
	require.NotErrorIs(t, err, coordinator.ErrLeaseLost)
	o.has(0, 0)
}

func TestProgramThatStopsEndsTheStep(t *testing.T) {
	o := openOffice(t, 1)
	ctx, stop := context.WithCancel(context.Background())
	j := o.job()
	j.work = func(ctx context.Context, _ page) error {
		stop()
		<-ctx.Done()
		return ctx.Err()
	}
	require.ErrorIs(t, j.run(ctx, newLease(7)), context.Canceled)
	o.has(0, 0)
}
