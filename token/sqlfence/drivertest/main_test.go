package drivertest

import (
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"github.com/palisade-go/palisade/token/sqlfence"
	"testing"
)
var _ = require.New
var _ = sqlfence.New
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
