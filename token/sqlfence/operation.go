package sqlfence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/palisade-go/palisade/token"
)

// ValueBytesMax is the length of the longest value that a write may return:
// 64 KiB. It is kept for as long as the operation is remembered.
const ValueBytesMax = 64 << 10

// recall looks for the receipt of w's operation. The fence is held, so nobody
// else can be at the same operation.
func (g *Guard) recall(ctx context.Context, tx *sql.Tx, w token.Write) (receipt token.Receipt, known bool, err error) {
	if w.Operation == "" {
		return token.Receipt{}, false, nil
	}
	var column any
	var value []byte
	err = tx.QueryRowContext(ctx, g.words.recall, w.Resource, string(w.Operation)).Scan(&column, &value)
	if errors.Is(err, sql.ErrNoRows) {
		return token.Receipt{}, false, nil
	}
	if err != nil {
		return token.Receipt{}, false, fmt.Errorf("sqlfence: look for the operation: %w", err)
	}
	t, err := readToken(fmt.Sprintf("operation %q", w.Operation), w.Resource, column)
	if err != nil {
		return token.Receipt{}, false, err
	}
	return token.Receipt{Token: t, Value: oneEmpty(value), Repeated: true}, true, nil
}

// record keeps the receipt of w's operation.
func (g *Guard) record(ctx context.Context, tx *sql.Tx, w token.Write, value []byte) error {
	if w.Operation == "" {
		return nil
	}
	if value == nil {
		value = []byte{} // nil would be NULL
	}
	_, err := tx.ExecContext(ctx, g.words.record, w.Resource, string(w.Operation), int64(w.Token), value)
	if err != nil {
		return fmt.Errorf("sqlfence: record the operation: %w", endedBy(err))
	}
	return nil
}

// oneEmpty makes nil of every empty value, so that the first receipt of an
// operation and a later one are equal, whatever the database returns for none.
func oneEmpty(value []byte) []byte {
	if len(value) == 0 {
		return nil
	}
	return value
}
