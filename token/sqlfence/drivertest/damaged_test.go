package drivertest

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/sqlfence"
)

// The tables of a user's own migrations may lack what keeps such rows out.
func TestARowThatNoGuardWroteIsRefused(t *testing.T) {
	onEach(t, func(t *testing.T, p place) {
		for name, value := range map[string]string{
			"negative": "-5", "zero": "0", "NULL": "NULL", "no counter": "9007199254740992",
			"above 63 bits": "9223372036854775808", "a fraction": "5.5",
		} {
			r := newResource(t, p, sqlfence.Config{})
			r.exec(t, `DROP TABLE palisade_fence`)
			r.exec(t, `CREATE TABLE palisade_fence (resource TEXT PRIMARY KEY, token NUMERIC)`)
			r.exec(t, `INSERT INTO palisade_fence VALUES ('document', `+value+`)`)
			ctx := context.Background()
			_, err := r.guard.Do(ctx, token.Write{Resource: "document", Token: 5, Operation: "export"}, r.increment(5))
			require.ErrorIs(t, err, sqlfence.ErrDamaged, name)
			require.ErrorIs(t, r.guard.Accept(ctx, token.Write{Resource: "document", Token: 5}), sqlfence.ErrDamaged, name)
			_, err = r.guard.Highest(ctx, "document")
			require.ErrorIs(t, err, sqlfence.ErrDamaged, name)
			require.Zero(t, r.number(t, `SELECT writes FROM document`), name)
		}
	})
}

func TestTheTablesKeepOutWhatIsNoToken(t *testing.T) {
	onEach(t, func(t *testing.T, p place) {
		r := newResource(t, p, sqlfence.Config{})
		values := []string{"-5", "0", "NULL", "9223372036854775808"}
		if p.dialect == sqlfence.SQLite {
			values = append(values, "'ten'", "5.5") // PostgreSQL makes 6 of 5.5, by its type
		}
		for _, value := range values {
			_, err := r.db.ExecContext(context.Background(), `INSERT INTO palisade_fence VALUES ('document', `+value+`)`)
			require.Error(t, err, value)
		}
	})
}

func TestNamesAreKeptByteByByte(t *testing.T) {
	onEach(t, func(t *testing.T, p place) {
		r := newResource(t, p, sqlfence.Config{})
		ctx := context.Background()
		names := []string{
			`quote ' double " back ` + "`" + ` \`, `; DROP TABLE palisade_fence; --`, "$1 ?1 :a @b %s %%", "a", "A", " a", "a ",
			"ä", "a\u0308", "İ", "i", "ß", "ss", "日本語", "👩‍🚒", "\x01\n\t\x7f", "\ufeff", "\U0010ffff",
			strings.Repeat("r", token.ResourceBytesMax), strings.Repeat("r", token.ResourceBytesMax-1),
			strings.Repeat("é", token.ResourceBytesMax/2), // as many bytes
		}
		for n, name := range names {
			w := token.Write{Resource: name, Token: token.Token(n + 1)}
			w.Operation = token.Operation(strings.ToValidUTF8(name[:min(len(name), token.OperationBytesMax)], ""))
			receipt, err := r.guard.Do(ctx, w, r.increment(1))
			require.NoError(t, err, "%q", name)
			require.False(t, receipt.Repeated, "%q", name)
		}
		for n, name := range names {
			highest, err := r.guard.Highest(ctx, name)
			require.NoError(t, err, "%q", name)
			require.Equal(t, token.Token(n+1), highest, "%q", name)
		}
	})
}
