package drivertest

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/fencetest"
	"github.com/palisade-go/palisade/token/sqlfence"
)

// lists is what the suite of all guards wants: lists of entries behind a guard.
type lists struct{ resource }

var errOnPurpose = errors.New("fails on purpose")

func (l lists) add(list, text string) func(context.Context, *sql.Tx) ([]byte, error) {
	return func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		var length int
		err := tx.QueryRowContext(ctx, l.sql(`SELECT count(*) FROM entry WHERE list = $1`), list).Scan(&length)
		if err != nil {
			return nil, err
		}
		length++
		_, err = tx.ExecContext(ctx, l.sql(`INSERT INTO entry (list, place, text) VALUES ($1, $2, $3)`), list, length, text)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(text, "fail") {
			return nil, errOnPurpose
		}
		return []byte(strconv.Itoa(length)), nil
	}
}

func (l lists) Append(ctx context.Context, w token.Write, entry string) (token.Receipt, error) {
	return l.guard.Do(ctx, w, l.add(w.Resource, entry))
}

func (l lists) AppendOnce(ctx context.Context, w token.Write, entry string) (token.Receipt, error) {
	return l.guard.DoOnce(ctx, w, l.add(w.Resource, entry))
}

func (l lists) Accept(ctx context.Context, w token.Write) error { return l.guard.Accept(ctx, w) }

func (l lists) Highest(ctx context.Context, resource string) (token.Token, error) {
	return l.guard.Highest(ctx, resource)
}

func (l lists) Entries(ctx context.Context, list string) ([]string, error) {
	rows, err := l.db.QueryContext(ctx, l.sql(`SELECT text FROM entry WHERE list = $1 ORDER BY place`), list)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var entries []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		entries = append(entries, text)
	}
	return entries, rows.Err()
}

func TestRulesOfAllGuards(t *testing.T) {
	onEach(t, func(t *testing.T, p place) {
		fencetest.Run(t, fencetest.Traits{
			Steps: fencetest.StepsMin, // each is a commit on a disk
			Reopen: func(t *testing.T, g fencetest.Guard) fencetest.Guard {
				old := g.(lists)
				require.NoError(t, old.db.Close())
				old.db = old.connect(t)
				old.guard = newGuard(t, p, old.db, sqlfence.Config{})
				return old
			},
		}, func(t *testing.T) fencetest.Guard { return lists{newResource(t, p, sqlfence.Config{})} })
	})
}
