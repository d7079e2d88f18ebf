package token

import (
	"database/sql/driver"
	"fmt"
)

// Value gives t to database/sql as the int64 of a BIGINT column, 0 for none.
// It returns ErrInvalid for a value that is not a token.
func (t Token) Value() (driver.Value, error) {
	if err := t.checkOrNone(); err != nil {
		return nil, err
	}
	return int64(t), nil
}

// Scan reads a token or none from a column: an int64, a uint64, or the decimal
// text as string or []byte, which some drivers return for integer columns. It
// refuses NULL (scan into a sql.Null[token.Token] if the column may be NULL),
// negative numbers, floats and every other type. On error, ErrInvalid, t is
// unchanged.
func (t *Token) Scan(src any) error {
	var read Token
	var err error
	switch v := src.(type) {
	case nil:
		return fmt.Errorf("%w: SQL value is NULL", ErrInvalid)
	case int64:
		if v < 0 {
			return fmt.Errorf("%w: SQL value %d is negative", ErrInvalid, v)
		}
		read = Token(v)
		err = read.checkOrNone()
	case uint64:
		read = Token(v)
		err = read.checkOrNone()
	case string:
		read, err = parseOrNone(v)
	case []byte:
		read, err = parseOrNone(string(v))
	case float32, float64:
		return fmt.Errorf("%w: SQL value %v is a float, which does not hold every token", ErrInvalid, v)
	default:
		return fmt.Errorf("%w: SQL value has type %T, not an integer or its text", ErrInvalid, src)
	}
	if err != nil {
		return err
	}
	*t = read
	return nil
}
