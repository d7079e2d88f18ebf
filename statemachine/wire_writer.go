package statemachine

import (
	"fmt"

	"github.com/vmihailenco/msgpack/v5"
)

// writer appends msgpack values to a buffer.
type writer struct {
	buf []byte
	enc *msgpack.Encoder
	err error // the first
}

func newWriter(dst []byte) *writer {
	w := &writer{buf: dst, enc: msgpack.GetEncoder()}
	w.enc.Reset(w)
	return w
}

// finish gives the encoder back and returns the buffer.
func (w *writer) finish() ([]byte, error) {
	msgpack.PutEncoder(w.enc)
	w.enc = nil
	return w.buf, w.err
}

// Write implements io.Writer for the encoder. It never fails.
func (w *writer) Write(p []byte) (int, error) {
	w.buf = append(w.buf, p...)
	return len(p), nil
}

// WriteByte implements io.ByteWriter for the encoder. It never fails.
func (w *writer) WriteByte(c byte) error {
	w.buf = append(w.buf, c)
	return nil
}

func (w *writer) note(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *writer) uint(n uint64) { w.note(w.enc.EncodeUint(n)) }
func (w *writer) int(n int64)   { w.note(w.enc.EncodeInt(n)) }
func (w *writer) bool(b bool)   { w.note(w.enc.EncodeBool(b)) }

// bin writes s as a msgpack bin. It notes an error when s is longer than max.
func (w *writer) bin(field, s string, max int) {
	if len(s) > max {
		w.note(fmt.Errorf("statemachine: %s has %d bytes, at most %d are allowed", field, len(s), max))
		return
	}
	w.note(w.enc.EncodeBytesLen(len(s)))
	w.buf = append(w.buf, s...)
}

// count writes the number of the elements that follow. It notes an error when
// there are more than max.
func (w *writer) count(field string, n, max int) {
	if n > max {
		w.note(fmt.Errorf("statemachine: %d %s, at most %d are allowed", n, field, max))
		return
	}
	w.uint(uint64(n))
}
