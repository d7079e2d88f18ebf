package pebblefence

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/palisade-go/palisade/token"
)

// Part of the format; never change.
const (
	formatMagic   = "PALFENCE"
	formatVersion = 1
	formatBytes   = len(formatMagic) + 2
	guardBytes    = 16
	fenceBytes    = 8 + 8 + 8
	firstNumber   = uint64(1)
)

const checksumBytes = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// fence is what a guard keeps of one resource.
type fence struct {
	// highest is the greatest token accepted, zero if none was. It only rises.
	highest token.Token
	// The operations that are remembered have the numbers from first on and
	// below next. Both only rise.
	first, next uint64
}

// operation is what a guard keeps of one operation that took effect.
type operation struct {
	number uint64
	token  token.Token
	value  []byte
}

func (o operation) receipt() token.Receipt {
	return token.Receipt{Token: o.token, Value: o.value, Repeated: true}
}

// seal appends the checksum of the key, without the guard's prefix, and of the
// value. The key is in it so that a record that was copied to another key does
// not pass for one.
func seal(key, value []byte) []byte {
	sum := crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
	return binary.BigEndian.AppendUint32(value, sum)
}

// unseal returns the value without its checksum, or ErrDamaged.
func unseal(key, record []byte) ([]byte, error) {
	if len(record) < checksumBytes {
		return nil, fmt.Errorf("%w: %d bytes have no checksum", ErrDamaged, len(record))
	}
	value := record[:len(record)-checksumBytes]
	if !bytes.Equal(seal(key, bytes.Clone(value)), record) {
		return nil, fmt.Errorf("%w: the checksum is wrong", ErrDamaged)
	}
	return value, nil
}

func formatRecord() []byte {
	return binary.BigEndian.AppendUint16([]byte(formatMagic), formatVersion)
}

// checkFormatRecord returns nil for the format that this code writes.
func checkFormatRecord(value []byte) error {
	if len(value) != formatBytes || string(value[:len(formatMagic)]) != formatMagic {
		return fmt.Errorf("%w: %.32x is not the mark of a fence", ErrFormat, value)
	}
	if version := binary.BigEndian.Uint16(value[len(formatMagic):]); version != formatVersion {
		return fmt.Errorf("%w: the fence has version %d, this code knows version %d", ErrFormat, version, formatVersion)
	}
	return nil
}

func (f fence) encode() []byte {
	value := make([]byte, 0, fenceBytes+checksumBytes)
	value = binary.BigEndian.AppendUint64(value, uint64(f.highest))
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
	case !f.highest.Valid():
		return fence{}, fmt.Errorf("%w: %s is not a token", ErrDamaged, f.highest)
	case f.first < firstNumber || f.next < f.first:
		return fence{}, fmt.Errorf("%w: operations %d to below %d", ErrDamaged, f.first, f.next)
	}
	return f, nil
}

func (o operation) encode() []byte {
	value := make([]byte, 0, 16+len(o.value)+checksumBytes)
	value = binary.BigEndian.AppendUint64(value, o.number)
	value = binary.BigEndian.AppendUint64(value, uint64(o.token))
	return append(value, o.value...)
}

// decodeOperation reads an operation of a resource with fence f.
func decodeOperation(value []byte, f fence) (operation, error) {
	if len(value) < 16 || len(value) > 16+ValueBytesMax {
		return operation{}, fmt.Errorf("%w: an operation of %d bytes", ErrDamaged, len(value))
	}
	o := operation{
		number: binary.BigEndian.Uint64(value),
		token:  token.Token(binary.BigEndian.Uint64(value[8:])),
		value:  cloneValue(value[16:]),
	}
	switch {
	case o.number < f.first || o.number >= f.next:
		return operation{}, fmt.Errorf("%w: operation %d is not one of %d to below %d", ErrDamaged, o.number, f.first, f.next)
	case !o.token.Valid() || o.token > f.highest:
		return operation{}, fmt.Errorf("%w: an operation with token %s, above %s", ErrDamaged, o.token, f.highest)
	}
	return o, nil
}

// cloneValue makes no difference between no value and an empty one, so that the
// first receipt and a later one are equal.
func cloneValue(value []byte) []byte {
	return append([]byte(nil), value...)
}
