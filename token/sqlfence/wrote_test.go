package sqlfence

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// uncounted is the result of a driver that does not count rows.
type uncounted struct{ driver.Result }

func (uncounted) RowsAffected() (int64, error) { return 1, errors.New("not counted") }

func TestWrote(t *testing.T) {
	broken := errors.New("broken")
	require.NoError(t, Wrote(driver.RowsAffected(1), nil))
	require.NoError(t, Wrote(driver.RowsAffected(2), nil))
	for name, result := range map[string]sql.Result{
		"no row": driver.RowsAffected(0), "less than none": driver.RowsAffected(-1),
		"nil": nil, "not counted": uncounted{},
	} {
		require.ErrorIs(t, Wrote(result, nil), ErrNotWritten, name)
	}
	require.ErrorContains(t, Wrote(driver.RowsAffected(0), nil), "a later owner has written, or there is no such row")
	require.Equal(t, broken, Wrote(nil, broken), "an error stays what it is")
	require.Equal(t, broken, Wrote(driver.RowsAffected(1), broken), "also beside a result")
}
