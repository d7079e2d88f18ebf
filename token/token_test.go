package token_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

// mustNew makes a token that the test knows to exist.
func mustNew(t testing.TB, epoch, counter uint64) token.Token {
	t.Helper()
	made, err := token.New(epoch, counter)
	require.NoError(t, err)
	return made
}

// notTokens are values that fit a uint64 and are neither none nor the token of
// a grant.
var notTokens = map[string]token.Token{
	"bit 63 alone":             1 << 63,
	"bit 63 and a counter":     1<<63 | 1,
	"all bits":                 math.MaxUint64,
	"epoch 1 without counter":  1 << 53,
	"last epoch, no counter":   token.Token(token.EpochMax << 53),
	"bit 63, epoch, a counter": 1<<63 | 1<<53 | 5,
}

func TestLimitsAreThoseOfTheLayout(t *testing.T) {
	require.EqualValues(t, 1023, token.EpochMax, "10 bits")
	require.EqualValues(t, 9007199254740991, token.CounterMax, "53 bits")
	require.EqualValues(t, math.MaxInt64, mustNew(t, token.EpochMax, token.CounterMax),
		"the greatest token is the greatest BIGINT")
	require.EqualValues(t, 8, token.BinaryBytes)
}

func TestNew(t *testing.T) {
	t.Run("TakesEveryCornerOfTheRange", func(t *testing.T) {
		for _, epoch := range []uint64{0, 1, token.EpochMax - 1, token.EpochMax} {
			for _, counter := range []uint64{1, 2, token.CounterMax - 1, token.CounterMax} {
				made := mustNew(t, epoch, counter)
				require.Equal(t, epoch, made.Epoch())
				require.Equal(t, counter, made.Counter())
				require.True(t, made.Valid())
				require.False(t, made.IsZero())
			}
		}
	})
	t.Run("RefusesCounterZero", func(t *testing.T) {
		for _, epoch := range []uint64{0, 5, token.EpochMax} {
			made, err := token.New(epoch, 0)
			require.ErrorIs(t, err, token.ErrInvalid)
			require.NotErrorIs(t, err, token.ErrExhausted)
			require.Zero(t, made)
		}
	})
	t.Run("NeverWrapsAboveTheRange", func(t *testing.T) {
		for _, above := range []uint64{1, 2, 1 << 10} {
			for _, arguments := range [][2]uint64{
				{token.EpochMax + above, 1},
				{0, token.CounterMax + above},
				{math.MaxUint64, 1},
				{0, math.MaxUint64},
			} {
				made, err := token.New(arguments[0], arguments[1])
				require.ErrorIs(t, err, token.ErrInvalid)
				require.ErrorIs(t, err, token.ErrExhausted)
				require.Zero(t, made)
			}
		}
		_, err := token.New(1024, 1)
		require.ErrorContains(t, err, "epoch 1024 is above 1023")
		_, err = token.New(0, 1<<53)
		require.ErrorContains(t, err, "counter 9007199254740992 is above 9007199254740991")
	})
}

func TestNext(t *testing.T) {
	t.Run("CountsUpByOne", func(t *testing.T) {
		next, err := mustNew(t, 3, 41).Next()
		require.NoError(t, err)
		require.Equal(t, mustNew(t, 3, 42), next)
	})
	t.Run("ReachesTheLastCounter", func(t *testing.T) {
		next, err := mustNew(t, 3, token.CounterMax-1).Next()
		require.NoError(t, err)
		require.Equal(t, mustNew(t, 3, token.CounterMax), next)
	})
	t.Run("IsExhaustedAtTheLastCounterOfEveryEpoch", func(t *testing.T) {
		for _, epoch := range []uint64{0, 1, token.EpochMax} {
			next, err := mustNew(t, epoch, token.CounterMax).Next()
			require.ErrorIs(t, err, token.ErrExhausted)
			require.Zero(t, next)
		}
	})
	t.Run("RefusesWhatIsNoToken", func(t *testing.T) {
		_, err := token.Token(0).Next()
		require.ErrorIs(t, err, token.ErrInvalid)
		for name, bad := range notTokens {
			_, err := bad.Next()
			require.ErrorIs(t, err, token.ErrInvalid, name)
		}
	})
}

func TestZeroIsNoneAndNotValid(t *testing.T) {
	var none token.Token
	require.True(t, none.IsZero())
	require.False(t, none.Valid())
}

func TestValuesOutsideTheLayoutAreNotValid(t *testing.T) {
	for name, bad := range notTokens {
		require.False(t, bad.Valid(), name)
		require.False(t, bad.IsZero(), name)
		require.LessOrEqual(t, bad.Epoch(), token.EpochMax, name)
		require.LessOrEqual(t, bad.Counter(), token.CounterMax, name)
	}
}

func TestLaterEpochIsGreaterThanEveryEarlierOne(t *testing.T) {
	for epoch := range token.EpochMax {
		require.Less(t, mustNew(t, epoch, token.CounterMax), mustNew(t, epoch+1, 1))
	}
}
