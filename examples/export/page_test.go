package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// ordersFrom are so many orders of one cent, with ids from first on.
func ordersFrom(first int64, count int) []order {
	orders := make([]order, count)
	for i := range orders {
		orders[i] = order{id: first + int64(i), customer: "c", cents: 1}
	}
	return orders
}

func TestPage(t *testing.T) {
	t.Run("SumsAreCarriedForward", func(t *testing.T) {
		first := page{month: "2026-11"}.next([]order{{7, "Ada", 250}, {9, "Ben", -1205}})
		require.Equal(t, page{
			month: "2026-11", step: 1, first: 7, last: 9, orders: 2, cents: -955,
			document: "2026-11, page 1\nbrought forward: 0 orders, 0.00\n" +
				"order 7, Ada: 2.50\norder 9, Ben: -12.05\ncarried forward: 2 orders, -9.55\n",
		}, first)
		second := first.next([]order{{10, "Cleo", 1000}})
		require.Equal(t, page{
			month: "2026-11", step: 2, first: 10, last: 10, orders: 3, cents: 45,
			document: "2026-11, page 2\nbrought forward: 2 orders, -9.55\n" +
				"order 10, Cleo: 10.00\ncarried forward: 3 orders, 0.45\n",
		}, second)
	})
	t.Run("OnlyAFullPageIsFollowedByAnother", func(t *testing.T) {
		require.Equal(t, 100, ordersMax)
		start := page{month: "2026-11"}
		require.False(t, start.next(ordersFrom(1, 99)).full())
		full := start.next(ordersFrom(1, 100))
		require.True(t, full.full())
		require.False(t, full.next(ordersFrom(101, 1)).full())
		require.True(t, full.next(ordersFrom(101, 100)).full())
	})
	t.Run("TheOperationNamesTheMonthTheStepAndTheOrders", func(t *testing.T) {
		first := page{month: "2026-11"}.next(ordersFrom(1, 100))
		require.EqualValues(t, "2026-11/step 1/orders 1-100", first.operation())
		require.EqualValues(t, "2026-11/step 2/orders 101-150", first.next(ordersFrom(101, 50)).operation())
		require.EqualValues(t, "2026-11/step 2/orders 101-151", first.next(ordersFrom(101, 51)).operation())
		require.EqualValues(t, "2026-12/step 1/orders 1-100", page{month: "2026-12"}.next(ordersFrom(1, 100)).operation())
	})
}
