package diskstore

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"net/http"
	"slices"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/httpfence"
)

// Part of the format; never change.
const (
	formatMagic   = "PALHTTPF"
	formatVersion = 1
	firstNumber   = uint64(1)
	fenceBytes    = 8 + 8 + 8
	checksumBytes = 4
)

// The states of a record. Part of the format; never renumber.
const (
	stateBegun    byte = 0
	stateAnswered byte = 1
	stateOmitted  byte = 2
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal appends the checksum of key and value. The key is in it so that a value
// that was copied to another key does not pass.
func seal(key, value []byte) []byte {
	sum := crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
	return binary.BigEndian.AppendUint32(value, sum)
}

// unseal returns the value without its checksum, or ErrDamaged.
func unseal(key, sealed []byte) ([]byte, error) {
	if len(sealed) < checksumBytes {
		return nil, fmt.Errorf("%w: %d bytes have no checksum", ErrDamaged, len(sealed))
	}
	value := sealed[:len(sealed)-checksumBytes]
	sum := crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
	if binary.BigEndian.Uint32(sealed[len(value):]) != sum {
		return nil, fmt.Errorf("%w: the checksum is wrong", ErrDamaged)
	}
	return value, nil
}

func formatValue() []byte {
	return binary.BigEndian.AppendUint16([]byte(formatMagic), formatVersion)
}

// checkFormat returns nil for the format that this code writes.
func checkFormat(value []byte) error {
	if len(value) != len(formatMagic)+2 || string(value[:len(formatMagic)]) != formatMagic {
		return fmt.Errorf("%w: %.32x is not the mark of a fence store", ErrFormat, value)
	}
	if version := binary.BigEndian.Uint16(value[len(formatMagic):]); version != formatVersion {
		return fmt.Errorf("%w: version %d, this code knows version %d", ErrFormat, version, formatVersion)
	}
	return nil
}

// fence is what is kept of a resource.
type fence struct {
	// highest is the greatest token accepted, zero if none was. It only rises.
	highest token.Token
	// The operations that are remembered have numbers from first on and below
	// next. Both rise, but that next falls by one when the last is forgotten.
	first, next uint64
}

func (f fence) encode() []byte {
	value := binary.BigEndian.AppendUint64(make([]byte, 0, fenceBytes+checksumBytes), uint64(f.highest))
	value = binary.BigEndian.AppendUint64(value, f.first)
	return binary.BigEndian.AppendUint64(value, f.next)
}

func decodeFence(value []byte) (fence, error) {
	if len(value) != fenceBytes {
		return fence{}, fmt.Errorf("%w: a fence of %d bytes, not %d", ErrDamaged, len(value), fenceBytes)
	}
	f := fence{
		highest: token.Token(binary.BigEndian.Uint64(value)),
		first:   binary.BigEndian.Uint64(value[8:]),
		next:    binary.BigEndian.Uint64(value[16:]),
	}
	switch {
	case f.highest != 0 && !f.highest.Valid():
		return fence{}, fmt.Errorf("%w: %s is not a token", ErrDamaged, f.highest)
	case f.first < firstNumber || f.next < f.first:
		return fence{}, fmt.Errorf("%w: operations %d to below %d", ErrDamaged, f.first, f.next)
	}
	return f, nil
}

// record is a httpfence.Record with its number.
type record struct {
	number uint64
	httpfence.Record
}

func (r record) encode() []byte {
	value := binary.BigEndian.AppendUint64(nil, r.number)
	value = binary.BigEndian.AppendUint64(value, uint64(r.Token))
	value = append(value, r.Fingerprint[:]...)
	switch a := r.Answer; {
	case a == nil:
		return append(value, stateBegun)
	case a.Omitted:
		return binary.BigEndian.AppendUint16(append(value, stateOmitted), uint16(a.Status))
	default:
		value = binary.BigEndian.AppendUint16(append(value, stateAnswered), uint16(a.Status))
		value = appendFields(value, a.Header)
		value = appendFields(value, a.Trailer)
		return append(value, a.Body...)
	}
}

func appendFields(to []byte, fields http.Header) []byte {
	at := len(to)
	to = binary.BigEndian.AppendUint32(to, 0)
	count := uint32(0)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		for _, value := range fields[name] {
			to = append(binary.BigEndian.AppendUint32(to, uint32(len(name))), name...)
			to = append(binary.BigEndian.AppendUint32(to, uint32(len(value))), value...)
			count++
		}
	}
	binary.BigEndian.PutUint32(to[at:], count)
	return to
}

func decodeRecord(value []byte) (record, error) {
	in := reader{left: value}
	var r record
	r.number = in.uint64()
	r.Token = token.Token(in.uint64())
	copy(r.Fingerprint[:], in.take(len(r.Fingerprint)))
	switch state := in.byte(); state {
	case stateBegun:
	case stateOmitted:
		r.Answer = &httpfence.Answer{Status: in.uint16(), Omitted: true}
	case stateAnswered:
		r.Answer = &httpfence.Answer{Status: in.uint16(), Header: in.fields(), Trailer: in.fields()}
		r.Answer.Body = append([]byte(nil), in.left...)
		in.left = nil
	default:
		in.fail("state %d", state)
	}
	if in.err == nil && len(in.left) > 0 {
		in.fail("%d bytes too many", len(in.left))
	}
	if in.err == nil && (r.number < firstNumber || !r.Token.Valid()) {
		in.fail("operation %d with token %s", r.number, r.Token)
	}
	if in.err == nil && r.Answer != nil && (r.Answer.Status < 200 || r.Answer.Status > 999) {
		in.fail("status %d", r.Answer.Status)
	}
	if in.err != nil {
		return record{}, in.err
	}
	return r, nil
}

// reader takes a value apart. After the first thing that is not there it has an
// err, and gives zeros. It allocates nothing that the value only claims.
type reader struct {
	left []byte
	err  error
}

func (in *reader) fail(format string, args ...any) {
	if in.err == nil {
		in.err = fmt.Errorf("%w: "+format, append([]any{ErrDamaged}, args...)...)
	}
	in.left = nil
}

// take returns the next n bytes, or nil.
func (in *reader) take(n int) []byte {
	if in.err != nil || n > len(in.left) {
		in.fail("a record that ends too early")
		return nil
	}
	taken := in.left[:n]
	in.left = in.left[n:]
	return taken
}

func (in *reader) byte() byte {
	if b := in.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (in *reader) uint16() int {
	if b := in.take(2); b != nil {
		return int(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (in *reader) uint32() uint32 {
	if b := in.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (in *reader) uint64() uint64 {
	if b := in.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (in *reader) text() string { return string(in.take(int(in.uint32()))) }

// fields reads header fields. There is one form for a set of them: the names in
// order, as net/http spells them or not.
func (in *reader) fields() http.Header {
	var fields http.Header
	before := ""
	for count := in.uint32(); count > 0 && in.err == nil; count-- {
		name, value := in.text(), in.text()
		if name < before {
			in.fail("field %.32q after %.32q", name, before)
		}
		before = name
		if fields == nil {
			fields = make(http.Header)
		}
		fields[name] = append(fields[name], value)
	}
	return fields
}
