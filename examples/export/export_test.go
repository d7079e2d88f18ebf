package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExport(t *testing.T) {
	ctx := context.Background()
	const month = "2026-10"
	// setUp returns a month of four orders.
	setUp := func(t *testing.T) (*ledger, []order) {
		l := openTestLedger(t)
		require.NoError(t, l.add(ctx, month, 4))
		orders, err := l.after(ctx, page{month: month})
		require.NoError(t, err)
		return l, orders
	}
	t.Run("AMonthWithoutPagesMissesAllOrders", func(t *testing.T) {
		l, _ := setUp(t)
		e := facts(t, l, month)
		require.Equal(t, []int64{1, 2, 3, 4}, e.missing)
		require.False(t, e.complete())
		require.EqualValues(t, 4, e.last)
		require.Equal(t, 4, e.ordered.orders)
	})
	t.Run("AllOrdersOnPagesAreComplete", func(t *testing.T) {
		l, orders := setUp(t)
		first := page{month: month}.next(orders[:3])
		put(t, l, first)
		put(t, l, first.next(orders[3:]))
		e := facts(t, l, month)
		require.True(t, e.complete(), "%v", e)
		require.Equal(t, 2, e.pages)
		require.Equal(t, "1 2", e.numbers)
		require.EqualValues(t, 2, e.taken)
		require.Equal(t, 4, e.orders)
		require.EqualValues(t, 100+137+174+211, e.cents)
	})
	t.Run("AnOrderThatIsLostIsMissing", func(t *testing.T) {
		l, orders := setUp(t)
		put(t, l, page{month: month}.next(orders[:3]))
		e := facts(t, l, month)
		require.Equal(t, []int64{4}, e.missing)
		require.False(t, e.complete())
	})
	t.Run("AnOrderOnTwoPagesIsThereTwice", func(t *testing.T) {
		l, orders := setUp(t)
		first := page{month: month}.next(orders)
		put(t, l, first)
		put(t, l, first.next(orders[2:3]))
		e := facts(t, l, month)
		require.Equal(t, []int64{3}, e.twice)
		require.False(t, e.complete())
	})
	t.Run("SumsThatAreWrongAreNotComplete", func(t *testing.T) {
		for _, wrong := range []func(*page){func(p *page) { p.orders++ }, func(p *page) { p.cents++ }} {
			l, orders := setUp(t)
			p := page{month: month}.next(orders)
			wrong(&p)
			put(t, l, p)
			require.False(t, facts(t, l, month).complete())
		}
	})
	t.Run("EachDifferenceIsSeen", func(t *testing.T) {
		l, orders := setUp(t)
		before := facts(t, l, month)
		require.True(t, before.equal(facts(t, l, month)))
		put(t, l, page{month: month}.next(orders[:2]))
		after := facts(t, l, month)
		require.False(t, before.equal(after))
		put(t, l, page{month: month}.next(orders[:2]))
		require.False(t, after.equal(facts(t, l, month)), "the number is another one")
	})
}
