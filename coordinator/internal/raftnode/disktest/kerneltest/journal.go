package kerneltest

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/vmihailenco/msgpack/v5"
)

// ReadJournal reads what a Watch has written down. What the process did not
// survive to write as a whole is not there.
func ReadJournal(r io.Reader) (journal []Operation, err error) {
	for decoder := msgpack.NewDecoder(r); ; {
		o, err := decode(decoder)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return journal, nil
		case err != nil:
			return nil, fmt.Errorf("read a journal after %d operations: %w", len(journal), err)
		}
		journal = append(journal, o)
	}
}

// encode writes an operation: its numbers, its texts, its data.
func (o Operation) encode(e *msgpack.Encoder) error {
	var failed error
	for _, n := range []int64{int64(o.Kind), int64(o.File), int64(o.Flags), o.Offset, o.Size, int64(o.Failed)} {
		failed = errors.Join(failed, e.EncodeInt(n))
	}
	return errors.Join(failed, e.EncodeString(o.Path), e.EncodeString(o.To), e.EncodeBytes(o.Data))
}

func decode(d *msgpack.Decoder) (o Operation, err error) {
	var numbers [6]int64
	for i := range numbers {
		if numbers[i], err = d.DecodeInt64(); err != nil {
			return o, err
		}
	}
	o = Operation{
		Kind: Kind(numbers[0]), File: int(numbers[1]), Flags: int(numbers[2]),
		Offset: numbers[3], Size: numbers[4], Failed: syscall.Errno(numbers[5]),
	}
	if o.Path, err = d.DecodeString(); err != nil {
		return o, err
	}
	if o.To, err = d.DecodeString(); err != nil {
		return o, err
	}
	o.Data, err = d.DecodeBytes()
	return o, err
}
