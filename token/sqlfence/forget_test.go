package sqlfence

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

func TestForgetRefusesAnAgeThatCouldBeNow(t *testing.T) {
	f, g := fakeGuard(t, Config{})
	f.before = func(statement string) error { panic("asked: " + statement) }
	for _, age := range []time.Duration{-time.Hour, 0, time.Millisecond - 1} {
		_, err := g.Forget(context.Background(), age)
		require.ErrorIs(t, err, token.ErrInvalid)
	}
}

func TestForgetGoesOnUntilThereAreFewer(t *testing.T) {
	f, g := fakeGuard(t, Config{})
	f.old = 2*ForgetRowsMax + 3
	count, err := g.Forget(context.Background(), time.Millisecond+1)
	require.NoError(t, err)
	require.EqualValues(t, 2003, count)
	require.Equal(t, [][2]any{{int64(2), int64(1000)}, {int64(2), int64(1000)}, {int64(2), int64(1000)}}, f.forgets,
		"the age is rounded up")

	f.old = ForgetRowsMax + 1
	f.before = once(2, stateError("57014"))
	count, err = g.Forget(context.Background(), time.Hour)
	require.ErrorIs(t, err, stateError("57014"))
	require.EqualValues(t, 1000, count, "what was deleted before")
}
