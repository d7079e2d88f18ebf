package drivertest

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/sqlfence"
)

// file is an SQLite database that processes share.
func file(t *testing.T, journal string, busyMilliseconds int) (resource, string) {
	t.Helper()
	dsn := sqliteDSN(filepath.Join(t.TempDir(), "shared.db"), journal, busyMilliseconds)
	p := place{"", sqlfence.SQLite, sql.LevelDefault, func(*testing.T) func(*testing.T) *sql.DB {
		return func(t *testing.T) *sql.DB {
			db, err := sql.Open("sqlite", dsn)
			require.NoError(t, err)
			return pool(t, db)
		}
	}}
	return newResource(t, p, sqlfence.Config{}), dsn
}

func TestProcessesShareAFile(t *testing.T) {
	for _, journal := range []string{"wal", "delete"} {
		for name, busyMilliseconds := range map[string]int{"BusyTimeout": 60_000, "NoBusyTimeout": 0} {
			t.Run(journal+"/"+name, func(t *testing.T) {
				r, dsn := file(t, journal, busyMilliseconds)
				r.exec(t, `DROP TABLE palisade_operation`) // so that the processes migrate at once, too
				r.exec(t, `DELETE FROM palisade_schema`)
				const processes, perProcess = 4, 25
				seed := *seedFlag
				if seed == 0 {
					seed = rand.Uint64()
				}
				t.Logf("the same tokens again: go test -run '%s' -seed %d", t.Name(), seed)
				order := rand.New(rand.NewPCG(seed, 0)).Perm(processes * perProcess)
				var children []child
				for n := range processes {
					what := task{DSN: dsn}
					for _, i := range order[n*perProcess : (n+1)*perProcess] {
						what.Tokens = append(what.Tokens, token.Token(i+1))
					}
					children = append(children, startChild(t, "write", what))
				}
				for _, c := range children {
					require.NoError(t, c.input.Close())
				}
				var written int64
				for _, c := range children {
					var accepted int64
					require.NoError(t, c.output.Decode(&accepted))
					require.NoError(t, c.Wait())
					written += accepted
				}
				require.Equal(t, left{fence: processes * perProcess, writes: written}, r.left(t))
				require.EqualValues(t, processes*perProcess, r.number(t, `SELECT writer FROM document`))
			})
		}
	}
}

// A process that is killed in its write leaves nothing, and no lock.
func TestAKilledProcessLeavesNothing(t *testing.T) {
	for _, journal := range []string{"wal", "delete"} {
		t.Run(journal, func(t *testing.T) {
			r, dsn := file(t, journal, 60_000)
			c := startChild(t, "hold", task{DSN: dsn, Tokens: []token.Token{6}})
			require.NoError(t, c.input.Close())
			c.hears(t, "holding")
			require.NoError(t, c.Process.Kill())
			require.Error(t, c.Wait())
			_, err := r.guard.Do(context.Background(), token.Write{Resource: "document", Token: 5}, r.increment(5))
			require.NoError(t, err, "token 6 went with its write")
			require.Equal(t, left{fence: 5, writes: 1}, r.left(t))
		})
	}
}
