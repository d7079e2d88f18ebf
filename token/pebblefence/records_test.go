package pebblefence

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestASealedRecord(t *testing.T) {
	key, value := []byte("key"), []byte("value")
	record := seal(key, bytes.Clone(value))
	got, err := unseal(key, record)
	require.NoError(t, err)
	require.Equal(t, value, got)
	t.Run("IsDamagedByEveryBit", func(t *testing.T) {
		for i := range record {
			for bit := range 8 {
				bad := bytes.Clone(record)
				bad[i] ^= 1 << bit
				_, err := unseal(key, bad)
				require.ErrorIs(t, err, ErrDamaged)
			}
		}
	})
	t.Run("IsDamagedByEveryCut", func(t *testing.T) {
		for length := range record {
			_, err := unseal(key, record[:length])
			require.ErrorIs(t, err, ErrDamaged)
		}
	})
	t.Run("BelongsToItsKey", func(t *testing.T) {
		_, err := unseal([]byte("kez"), record)
		require.ErrorIs(t, err, ErrDamaged)
	})
}

func TestRecordsThatNoGuardWrites(t *testing.T) {
	for name, f := range map[string]fence{
		"no token":     {0, 1, 1},
		"64 bits":      {1<<63 | 1, 1, 1},
		"counter 0":    {1 << 53, 1, 1},
		"number 0":     {5, 0, 1},
		"next below":   {5, 3, 2},
		"next wrapped": {5, math.MaxUint64, 0},
	} {
		_, err := decodeFence(f.encode())
		require.ErrorIs(t, err, ErrDamaged, name)
	}
	f := fence{7, 2, 5}
	_, err := decodeOperation(operation{number: 4, token: 7, value: make([]byte, ValueBytesMax)}.encode(), f)
	require.NoError(t, err)
	for name, o := range map[string]operation{
		"forgotten":      {1, 7, nil},
		"to come":        {5, 7, nil},
		"token above":    {3, 8, nil},
		"no token":       {3, 0, nil},
		"value too long": {3, 7, make([]byte, ValueBytesMax+1)},
	} {
		_, err := decodeOperation(o.encode(), f)
		require.ErrorIs(t, err, ErrDamaged, name)
	}
	for name, record := range map[string]string{
		"empty": "", "short": "PALFENCE\x00", "long": "PALFENCE\x00\x01\x00",
		"other": "PALFENCF\x00\x01", "later": "PALFENCE\x00\x02",
	} {
		require.ErrorIs(t, checkFormatRecord([]byte(record)), ErrFormat, name)
	}
	require.ErrorContains(t, checkFormatRecord([]byte("PALFENCE\x00\x02")), "version 2, this code knows version 1")
}

func FuzzFence(f *testing.F) {
	f.Add(fence{7, 2, 5}.encode())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := decodeFence(data)
		if err != nil {
			require.ErrorIs(t, err, ErrDamaged)
			require.Zero(t, got)
			return
		}
		require.True(t, got.highest.Valid())
		require.LessOrEqual(t, got.first, got.next)
		require.Equal(t, data, got.encode())
	})
}

func FuzzOperation(f *testing.F) {
	f.Add(operation{4, 7, []byte("value")}.encode())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := decodeOperation(data, fence{1 << 40, 2, 1 << 60})
		if err != nil {
			require.ErrorIs(t, err, ErrDamaged)
			require.Zero(t, got)
			return
		}
		require.True(t, got.token.Valid())
		require.LessOrEqual(t, len(got.value), ValueBytesMax)
		require.Equal(t, data, got.encode())
	})
}

func FuzzUnseal(f *testing.F) {
	f.Add([]byte("key"), seal([]byte("key"), []byte("value")))
	f.Add([]byte("key"), []byte("abc"))
	f.Fuzz(func(t *testing.T, key, record []byte) {
		value, err := unseal(key, record)
		if err != nil {
			require.ErrorIs(t, err, ErrDamaged)
			return
		}
		require.Equal(t, record, seal(key, bytes.Clone(value)))
	})
}
