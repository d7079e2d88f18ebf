package statemachine

import (
	"bytes"
	"fmt"
	"math"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// reader reads msgpack values from bytes that nobody has checked. The first
// error sticks, and everything read after it is zero. It accepts only the form
// that writer produces, so equal values have equal bytes.
type reader struct {
	data  []byte
	src   bytes.Reader // over the end of data
	dec   *msgpack.Decoder
	limit int // end of what may be read: of data, or of the frame being read
	err   error
	// room is what the claims of a request are read into; nil: each gets its own.
	room []Claim
}

func newReader(data []byte) *reader {
	r := &reader{dec: msgpack.GetDecoder()}
	r.reset(data)
	return r
}

// reset begins with other bytes.
func (r *reader) reset(data []byte) {
	r.data, r.limit, r.err = data, len(data), nil
	r.src.Reset(data)
	r.dec.Reset(&r.src)
}

// finish gives the decoder back and returns the first error. Bytes that were
// not read are one.
func (r *reader) finish(what string) error {
	r.close()
	r.end(what)
	return r.err
}

// close gives the decoder back.
func (r *reader) close() {
	msgpack.PutDecoder(r.dec)
	r.dec = nil
}

// end fails unless everything up to the limit was read, and nothing beyond.
func (r *reader) end(what string) {
	switch {
	case r.rest() > 0:
		r.fail("%s: %d bytes too many", what, r.rest())
	case r.rest() < 0:
		r.fail("%s: %d bytes too few", what, -r.rest())
	}
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
	}
}

func (r *reader) at() int   { return len(r.data) - r.src.Len() }
func (r *reader) rest() int { return r.limit - r.at() }

// peek returns the next byte; false at the limit or after an error.
func (r *reader) peek(field string) (byte, bool) {
	if r.err != nil {
		return 0, false
	}
	if r.rest() <= 0 {
		r.fail("%s: the bytes end before it", field)
		return 0, false
	}
	return r.data[r.at()], true
}

// take returns the next n bytes, which must be there.
func (r *reader) take(n int) []byte {
	start := r.at()
	r.src.Reset(r.data[start+n:])
	return r.data[start : start+n]
}

// byte reads one raw byte.
func (r *reader) byte(field string) byte {
	if _, ok := r.peek(field); !ok {
		return 0
	}
	return r.take(1)[0]
}

func (r *reader) uint(field string) uint64 {
	code, ok := r.peek(field)
	if !ok {
		return 0
	}
	n, err := r.dec.DecodeUint64()
	if !r.accept(field, err, code, uintCode(n)) {
		return 0
	}
	return n
}

func (r *reader) int(field string) int64 {
	code, ok := r.peek(field)
	if !ok {
		return 0
	}
	n, err := r.dec.DecodeInt64()
	if !r.accept(field, err, code, intCode(n)) {
		return 0
	}
	return n
}

func (r *reader) bool(field string) bool {
	code, ok := r.peek(field)
	if !ok {
		return false
	}
	b, err := r.dec.DecodeBool()
	want := msgpcode.False
	if b {
		want = msgpcode.True
	}
	return r.accept(field, err, code, want) && b
}

// bin reads a msgpack bin of at most max bytes. The result is a copy.
func (r *reader) bin(field string, max int) string {
	n := r.binLen(field, max)
	if r.err != nil || n == 0 {
		return ""
	}
	return string(r.take(n))
}

// binLen reads the length of a msgpack bin. On success that many bytes are
// there.
func (r *reader) binLen(field string, max int) int {
	code, ok := r.peek(field)
	if !ok {
		return 0
	}
	n, err := r.dec.DecodeBytesLen()
	if !r.accept(field, err, code, binCode(n)) {
		return 0
	}
	switch {
	case n > max:
		r.fail("%s: %d bytes, at most %d are allowed", field, n, max)
	case n > r.rest():
		r.fail("%s: %d bytes, %d are there", field, n, r.rest())
	default:
		return n
	}
	return 0
}

// count reads the number of the elements that follow, of at least elementMin
// bytes each. On success there is room for them, so it is safe to allocate.
func (r *reader) count(field string, max, elementMin int) int {
	n := r.uint(field)
	switch {
	case n > uint64(max):
		r.fail("%s: %d, at most %d are allowed", field, n, max)
	case int(n)*elementMin > r.rest():
		r.fail("%s: %d in %d bytes", field, n, r.rest())
	default:
		return int(n)
	}
	return 0
}

// accept judges what the msgpack library made of a value that began with code,
// where want is the code that writer would have used.
func (r *reader) accept(field string, err error, code, want byte) bool {
	switch {
	case err != nil:
		r.fail("%s: %v", field, err)
	case code != want:
		r.fail("%s: begins with %#x, expected %#x", field, code, want)
	}
	return r.err == nil
}

// uintCode returns the first byte of the shortest form of n.
func uintCode(n uint64) byte {
	switch {
	case n <= math.MaxInt8:
		return byte(n)
	case n <= math.MaxUint8:
		return msgpcode.Uint8
	case n <= math.MaxUint16:
		return msgpcode.Uint16
	case n <= math.MaxUint32:
		return msgpcode.Uint32
	}
	return msgpcode.Uint64
}

// intCode returns the first byte of the shortest form of n.
func intCode(n int64) byte {
	switch {
	case n >= 0:
		return uintCode(uint64(n))
	case n >= int64(int8(msgpcode.NegFixedNumLow)):
		return byte(n)
	case n >= math.MinInt8:
		return msgpcode.Int8
	case n >= math.MinInt16:
		return msgpcode.Int16
	case n >= math.MinInt32:
		return msgpcode.Int32
	}
	return msgpcode.Int64
}

// binCode returns the first byte of a bin of n bytes.
func binCode(n int) byte {
	switch {
	case n < 1<<8:
		return msgpcode.Bin8
	case n < 1<<16:
		return msgpcode.Bin16
	}
	return msgpcode.Bin32
}
