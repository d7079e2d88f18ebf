package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

// always returns the same token for every account.
func always(t token.Token) func(string) (token.Token, bool) {
	return func(string) (token.Token, bool) { return t, true }
}

func TestBank(t *testing.T) {
	accounts := []string{"a", "b", "c"}

	t.Run("ATransferMovesMoneyAndMakesNone", func(t *testing.T) {
		b := newBank(accounts, 10)
		require.NoError(t, b.carryOut(order{accounts, 3}, always(1)))
		require.Equal(t, map[string]int{"a": 4, "b": 13, "c": 13}, b.balances)
		require.Equal(t, 30, b.sum())
	})
	t.Run("NobodyPaysWhatHeDoesNotHave", func(t *testing.T) {
		b := newBank(accounts, 10)
		require.ErrorContains(t, b.carryOut(order{accounts, 6}, always(1)), "a does not have 6 for each of [b c]")
		require.Equal(t, map[string]int{"a": 10, "b": 10, "c": 10}, b.balances)
	})
	t.Run("AnAccountIsNotWrittenWithoutItsLock", func(t *testing.T) {
		b := newBank(accounts, 10)
		none := func(string) (token.Token, bool) { return 0, false }
		require.ErrorContains(t, b.carryOut(order{accounts, 1}, none), "a is written without its lock")
	})
	t.Run("ALaterOwnersBalanceIsNotOverwritten", func(t *testing.T) {
		b := newBank(accounts, 10)
		require.NoError(t, b.carryOut(order{accounts, 1}, always(7)))
		require.ErrorIs(t, b.carryOut(order{accounts, 1}, always(6)), token.ErrStale)
		require.Equal(t, map[string]int{"a": 8, "b": 11, "c": 11}, b.balances)
	})
	t.Run("TransfersThatOverlapMakeMoneyOfNothing", func(t *testing.T) {
		// The second transfer runs between the first one's reads and writes,
		// which is what the locks are for: without them the sum is wrong, so
		// the story's last check would find it.
		b := newBank(accounts, 10)
		overlap := func(string) (token.Token, bool) {
			if b.read("b") == 10 {
				require.NoError(t, b.carryOut(order{[]string{"b", "c"}, 5}, always(1)))
			}
			return 1, true
		}
		require.NoError(t, b.carryOut(order{[]string{"a", "b"}, 2}, overlap))
		require.NotEqual(t, 30, b.sum())
	})
}

func TestOrdersOfClerksOpposeEachOther(t *testing.T) {
	accounts := []string{"a", "b", "c", "d"}
	up, down := orders(accounts, 0, 4), orders(accounts, 1, 4)
	require.Equal(t, []string{"b", "c", "d"}, up[1].accounts)
	require.Equal(t, []string{"d", "c", "b"}, down[0].accounts)
	for _, o := range slices.Concat(up, down) {
		three := slices.Clone(o.accounts)
		slices.Sort(three)
		require.Len(t, slices.Compact(three), 3, "of different accounts")
		require.Positive(t, o.amount)
	}
}
