package transport

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"time"
)

// Sizes of the wire format of a frame; see the package comment. They never
// change: another form goes with another ALPN name and preface.
const frameHeaderBytes = 8

const (
	// frameGrowBytes is how much memory the header of a frame is worth: the
	// rest is allocated when as much has arrived.
	frameGrowBytes = 64 << 10
	// readBufferBytes is the buffer of a connection that is read. Long frames
	// do not pass through it.
	readBufferBytes = 16 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errFrame says that what came is not a frame.
var errFrame = errors.New("not a frame")

// frameHeader returns what goes before a frame on the wire.
func frameHeader(frame []byte) [frameHeaderBytes]byte {
	var header [frameHeaderBytes]byte
	binary.BigEndian.PutUint32(header[:4], uint32(len(frame)))
	binary.BigEndian.PutUint32(header[4:], frameSum(header[:4], frame))
	return header
}

// appendFrame appends the wire form of a frame.
func appendFrame(to, frame []byte) []byte {
	header := frameHeader(frame)
	return append(append(to, header[:]...), frame...)
}

// frameSum is the checksum of a length on the wire and the frame behind it.
func frameSum(length, frame []byte) uint32 {
	return crc32.Update(crc32.Checksum(length, castagnoli), castagnoli, frame)
}

// frameReader reads frames from a connection, for one goroutine.
type frameReader struct {
	in *bufio.Reader
	// stall, when it is not zero, bounds each wait for bytes inside a frame,
	// by a deadline on conn. A wait for the next frame is not bounded.
	stall time.Duration
	conn  interface{ SetReadDeadline(time.Time) error }
	// due says that conn has a deadline of ours.
	due bool
}

// newFrameReader reads from r without bounds on time.
func newFrameReader(r io.Reader) *frameReader {
	return &frameReader{in: bufio.NewReaderSize(r, readBufferBytes)}
}

// next waits for a frame of at most bytesMax bytes and returns it in memory of
// its own, which grows only as bytes arrive. The error is io.EOF when the
// connection ended between two frames, errFrame when what came is none; then
// nothing more can be read.
func (r *frameReader) next(bytesMax int) ([]byte, error) {
	if _, err := r.in.Peek(1); err != nil {
		return nil, err
	}
	header, err := r.header()
	if err != nil {
		return nil, inside(err)
	}
	length := binary.BigEndian.Uint32(header[:4])
	if uint64(length) > uint64(bytesMax) {
		return nil, fmt.Errorf("%w: its length is %d bytes, at most %d are allowed here", errFrame, length, bytesMax)
	}
	frame, err := r.body(int(length))
	if err != nil {
		return nil, inside(err)
	}
	if want, got := binary.BigEndian.Uint32(header[4:]), frameSum(header[:4], frame); want != got {
		return nil, fmt.Errorf("%w: its checksum is %08x, its bytes have %08x", errFrame, want, got)
	}
	return frame, r.rest()
}

func (r *frameReader) header() (header [frameHeaderBytes]byte, err error) {
	if r.in.Buffered() < frameHeaderBytes {
		if err := r.hurry(); err != nil {
			return header, err
		}
	}
	_, err = io.ReadFull(r.in, header[:])
	return header, err
}

func (r *frameReader) body(length int) ([]byte, error) {
	frame := make([]byte, 0, min(length, frameGrowBytes))
	for len(frame) < length {
		if len(frame) == cap(frame) {
			more := make([]byte, len(frame), min(length, 2*cap(frame)))
			copy(more, frame)
			frame = more
		}
		if r.in.Buffered() == 0 {
			if err := r.hurry(); err != nil {
				return nil, err
			}
		}
		n, err := r.in.Read(frame[len(frame):cap(frame)])
		frame = frame[:len(frame)+n]
		if err != nil && len(frame) < length {
			return nil, err
		}
	}
	return frame, nil
}

// hurry bounds the next wait for bytes.
func (r *frameReader) hurry() error {
	if r.stall == 0 {
		return nil
	}
	r.due = true
	return r.conn.SetReadDeadline(time.Now().Add(r.stall))
}

// rest takes the bound away.
func (r *frameReader) rest() error {
	if !r.due {
		return nil
	}
	r.due = false
	return r.conn.SetReadDeadline(time.Time{})
}

// inside says of an end of the connection that it came inside a frame.
func inside(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
