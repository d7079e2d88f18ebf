package token_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

func TestBinary(t *testing.T) {
	t.Run("RefusesEveryOtherLength", func(t *testing.T) {
		for length := range 20 {
			if length == token.BinaryBytes {
				continue
			}
			into := token.Token(77)
			err := into.UnmarshalBinary(bytes.Repeat([]byte{1}, length))
			require.ErrorIs(t, err, token.ErrInvalid)
			require.ErrorContains(t, err, fmt.Sprintf("has %d bytes, not 8", length))
			require.Equal(t, token.Token(77), into)
		}
		require.ErrorIs(t, new(token.Token).UnmarshalBinary(nil), token.ErrInvalid)
	})
	t.Run("RefusesBytesThatAreNoToken", func(t *testing.T) {
		for name, bad := range notTokens {
			into := token.Token(77)
			err := into.UnmarshalBinary(binary.BigEndian.AppendUint64(nil, uint64(bad)))
			require.ErrorIs(t, err, token.ErrInvalid, name)
			require.Equal(t, token.Token(77), into, name)
		}
	})
	t.Run("AppendKeepsWhatWasThere", func(t *testing.T) {
		after, err := mustNew(t, 0, 258).AppendBinary([]byte("key/"))
		require.NoError(t, err)
		require.Equal(t, "key/\x00\x00\x00\x00\x00\x00\x01\x02", string(after))
	})
	t.Run("BytesSortLikeTokens", func(t *testing.T) {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 0))
		type pair struct {
			token  token.Token
			binary []byte
		}
		var pairs []pair
		for range 5000 {
			// A shift makes small and large numbers equally likely.
			epoch := random.Uint64() & token.EpochMax >> random.IntN(11)
			counter := max(1, random.Uint64()&token.CounterMax>>random.IntN(53))
			made := mustNew(t, epoch, counter)
			form, err := made.MarshalBinary()
			require.NoError(t, err)
			pairs = append(pairs, pair{made, form})
		}
		slices.SortFunc(pairs, func(a, b pair) int { return bytes.Compare(a.binary, b.binary) })
		require.True(t, slices.IsSortedFunc(pairs, func(a, b pair) int {
			switch {
			case a.token < b.token:
				return -1
			case a.token > b.token:
				return 1
			}
			return 0
		}), "seed %d", seed)
	})
}
