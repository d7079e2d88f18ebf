package token_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

func TestJSON(t *testing.T) {
	t.Run("RefusesWhatMayHaveBeenAFloat", func(t *testing.T) {
		for _, data := range []string{"1.0", "1e3", "1E0", "-1", "0.0", "9.007199254740993e15", `"1.0"`, `"1e3"`} {
			into := token.Token(77)
			err := json.Unmarshal([]byte(data), &into)
			require.ErrorIs(t, err, token.ErrInvalid, data)
			require.ErrorContains(t, err, "exact decimal number", data)
			require.Equal(t, token.Token(77), into, data)
		}
	})
	t.Run("RefusesOtherValues", func(t *testing.T) {
		for _, data := range []string{"null", "true", `""`, `"`, "", "[1]", `{"a":1}`, `"\u0031"`, `" 1"`, `"1`, `1"`} {
			into := token.Token(77)
			require.ErrorIs(t, into.UnmarshalJSON([]byte(data)), token.ErrInvalid, data)
			require.Equal(t, token.Token(77), into, data)
		}
	})
	t.Run("NullLeavesAPointerNil", func(t *testing.T) {
		record := struct{ Fence *token.Token }{}
		require.NoError(t, json.Unmarshal([]byte(`{"Fence":null}`), &record))
		require.Nil(t, record.Fence)
	})
	t.Run("NumbersAbove2To53AreReadExactly", func(t *testing.T) {
		var into token.Token
		require.NoError(t, json.Unmarshal([]byte("9007199254740993"), &into))
		require.Equal(t, mustNew(t, 1, 1), into)
	})
	t.Run("WorksAsFieldAndAsMapKey", func(t *testing.T) {
		type record struct {
			Fence  token.Token
			ByName map[token.Token]string
		}
		want := record{Fence: 7, ByName: map[token.Token]string{8: "a", 0: "none"}}
		data, err := json.Marshal(want)
		require.NoError(t, err)
		require.JSONEq(t, `{"Fence":"7","ByName":{"0":"none","8":"a"}}`, string(data))
		var got record
		require.NoError(t, json.Unmarshal(data, &got))
		require.Equal(t, want, got)
	})
}
