package token_test

import (
	"database/sql"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

func TestScan(t *testing.T) {
	refused := map[string]struct {
		source any
		names  string
	}{
		"NULL":                       {nil, "NULL"},
		"minus one":                  {int64(-1), "-1 is negative"},
		"the least int64":            {int64(math.MinInt64), "negative"},
		"a float64":                  {float64(7), "is a float"},
		"a float32":                  {float32(7), "is a float"},
		"NaN":                        {math.NaN(), "is a float"},
		"bit 63":                     {uint64(1 << 63), "63 bits"},
		"int64 without counter":      {int64(1 << 53), "counter 0"},
		"uint64 without counter":     {uint64(1 << 53), "counter 0"},
		"a bool":                     {true, "type bool"},
		"a time":                     {time.Unix(1, 0), "type time.Time"},
		"an int":                     {7, "type int"},
		"nil bytes":                  {[]byte(nil), "empty"},
		"the binary form of a token": {[]byte{0, 0, 0, 0, 0, 0, 0, 7}, "no decimal digit"},
	}
	for name, source := range refused {
		t.Run("Refuses "+name, func(t *testing.T) {
			into := token.Token(77)
			err := into.Scan(source.source)
			require.ErrorIs(t, err, token.ErrInvalid)
			require.ErrorContains(t, err, source.names)
			require.Equal(t, token.Token(77), into)
		})
	}
	t.Run("NullableColumnsGoThroughSQLNull", func(t *testing.T) {
		var column sql.Null[token.Token]
		require.NoError(t, column.Scan(nil))
		require.False(t, column.Valid)
		require.NoError(t, column.Scan(int64(7)))
		require.Equal(t, sql.Null[token.Token]{V: 7, Valid: true}, column)
	})
}
