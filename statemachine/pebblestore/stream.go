package pebblestore

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// Part of the stream's format; never change.
const (
	streamMagic   = "PALIMAGE"
	streamVersion = 1

	tagTrailer byte = 0x00
	tagRecord  byte = 0x01

	streamHeaderBytes = len(streamMagic) + 2
	recordHeadBytes   = 2 + 4 // after the tag
	countBytes        = 8
	checksumBytes     = 4

	streamBufferBytes = 64 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// streamWriter writes an image in the stream format.
type streamWriter struct {
	out   *bufio.Writer
	sum   uint32
	count uint64
	head  [1 + recordHeadBytes]byte
}

// newStreamWriter writes the header. Errors are those of w, here and below.
func newStreamWriter(w io.Writer) (*streamWriter, error) {
	sw := &streamWriter{out: bufio.NewWriterSize(w, streamBufferBytes)}
	header := binary.BigEndian.AppendUint16([]byte(streamMagic), streamVersion)
	return sw, sw.write(header)
}

func (sw *streamWriter) write(data []byte) error {
	sw.sum = crc32.Update(sw.sum, castagnoli, data)
	_, err := sw.out.Write(data)
	return err
}

// record writes one record, within the bounds that checkBounds checks.
func (sw *streamWriter) record(key, value []byte) error {
	sw.head[0] = tagRecord
	binary.BigEndian.PutUint16(sw.head[1:], uint16(len(key)))
	binary.BigEndian.PutUint32(sw.head[3:], uint32(len(value)))
	if err := sw.write(sw.head[:]); err != nil {
		return err
	}
	if err := sw.write(key); err != nil {
		return err
	}
	sw.count++
	return sw.write(value)
}

// trailer writes the trailer and hands everything to the writer below.
func (sw *streamWriter) trailer() error {
	trailer := binary.BigEndian.AppendUint64([]byte{tagTrailer}, sw.count)
	if err := sw.write(trailer); err != nil {
		return err
	}
	if _, err := sw.out.Write(binary.BigEndian.AppendUint32(nil, sw.sum)); err != nil {
		return err
	}
	return sw.out.Flush()
}

// streamReader reads the stream format. It trusts nothing it reads: lengths are
// checked before memory is taken for them.
type streamReader struct {
	in    *bufio.Reader
	sum   uint32
	count uint64
	key   []byte
	value []byte
}

// newStreamReader reads the header. Errors, here and in next: ErrFormat for
// another version, ErrCorrupt for bytes that no writer wrote, else the reader's.
func newStreamReader(r io.Reader) (*streamReader, error) {
	sr := &streamReader{in: bufio.NewReaderSize(r, streamBufferBytes)}
	var header [streamHeaderBytes]byte
	if err := sr.read(header[:]); err != nil {
		return nil, err
	}
	if string(header[:len(streamMagic)]) != streamMagic {
		return nil, fmt.Errorf("%w: stream begins with %x, want %x", ErrCorrupt, header[:len(streamMagic)], streamMagic)
	}
	if version := binary.BigEndian.Uint16(header[len(streamMagic):]); version != streamVersion {
		return nil, fmt.Errorf("%w: the stream has version %d, this binary knows version %d", ErrFormat, version, streamVersion)
	}
	return sr, nil
}

// read fills data and adds it to the checksum.
func (sr *streamReader) read(data []byte) error {
	if err := sr.readRaw(data); err != nil {
		return err
	}
	sr.sum = crc32.Update(sr.sum, castagnoli, data)
	return nil
}

func (sr *streamReader) readRaw(data []byte) error {
	_, err := io.ReadFull(sr.in, data)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: the stream ends after %d records, before its trailer", ErrCorrupt, sr.count)
	}
	if err != nil {
		return fmt.Errorf("read stream: %w", err)
	}
	return nil
}

// next reads one record into key and value, which stay valid until the next
// call. It returns false after the last one, when count, checksum and the end
// of the stream were verified too.
func (sr *streamReader) next() (bool, error) {
	var tag [1]byte
	if err := sr.read(tag[:]); err != nil {
		return false, err
	}
	switch tag[0] {
	case tagRecord:
		return true, sr.readRecord()
	case tagTrailer:
		return false, sr.readTrailer()
	default:
		return false, fmt.Errorf("%w: tag 0x%02x after %d records of the stream", ErrCorrupt, tag[0], sr.count)
	}
}

func (sr *streamReader) readRecord() error {
	var head [recordHeadBytes]byte
	if err := sr.read(head[:]); err != nil {
		return err
	}
	keyBytes := int(binary.BigEndian.Uint16(head[0:]))
	valueBytes := binary.BigEndian.Uint32(head[2:])
	if keyBytes > KeyBytesMax || valueBytes > ValueBytesMax {
		return fmt.Errorf("%w: record %d of the stream has a key of %d and a value of %d bytes, the limits are %d and %d",
			ErrCorrupt, sr.count+1, keyBytes, valueBytes, KeyBytesMax, ValueBytesMax)
	}
	record := make([]byte, keyBytes+int(valueBytes))
	if err := sr.read(record); err != nil {
		return err
	}
	if sr.count > 0 && bytes.Compare(sr.key, record[:keyBytes]) >= 0 {
		return fmt.Errorf("%w: record %d of the stream is not in the order of keys", ErrCorrupt, sr.count+1)
	}
	sr.key, sr.value = record[:keyBytes], record[keyBytes:]
	sr.count++
	return nil
}

func (sr *streamReader) readTrailer() error {
	var count [countBytes]byte
	if err := sr.read(count[:]); err != nil {
		return err
	}
	if n := binary.BigEndian.Uint64(count[:]); n != sr.count {
		return fmt.Errorf("%w: the stream says %d records and has %d", ErrCorrupt, n, sr.count)
	}
	want := sr.sum
	var sum [checksumBytes]byte
	if err := sr.readRaw(sum[:]); err != nil {
		return err
	}
	if got := binary.BigEndian.Uint32(sum[:]); got != want {
		return fmt.Errorf("%w: the stream has checksum %08x, its bytes give %08x", ErrCorrupt, got, want)
	}
	switch _, err := sr.in.ReadByte(); {
	case err == nil:
		return fmt.Errorf("%w: bytes follow the trailer of the stream", ErrCorrupt)
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("read stream: %w", err)
	}
	return nil
}
