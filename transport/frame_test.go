package transport_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"io"
	"runtime"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

func TestFrameOnTheWire(t *testing.T) {
	// The format has been in use since it was written down here, so these
	// texts never change.
	for text, golden := range map[string]string{
		"":         "00000000" + "48674bc7",
		"hello":    "00000005" + "3923f9b4" + "68656c6c6f",
		"\x00\xff": "00000002" + "b5387dd6" + "00ff",
	} {
		require.Equal(t, golden, hex.EncodeToString(transport.AppendFrame(nil, []byte(text))), "%q", text)
		wire, err := hex.DecodeString(golden)
		require.NoError(t, err)
		frame, err := transport.ReadFrame(bytes.NewReader(wire), transport.FrameBytesMax)
		require.NoError(t, err)
		require.Equal(t, text, string(frame))
	}
}

func TestReadingFrames(t *testing.T) {
	long := bytes.Repeat([]byte("palisade"), 100_000)
	wire := transport.AppendFrame(nil, []byte("one"))
	wire = transport.AppendFrame(wire, nil)
	wire = transport.AppendFrame(wire, long)
	t.Run("FindsEachInItsPlace", func(t *testing.T) {
		frames, err := transport.ReadFrames(wire, transport.FrameBytesMax)
		require.Equal(t, io.EOF, err, "between two frames")
		require.Equal(t, [][]byte{[]byte("one"), {}, long}, frames)
	})
	t.Run("DoesNotDependOnHowTheBytesArrive", func(t *testing.T) {
		for name, slow := range map[string]func(io.Reader) io.Reader{
			"one by one": iotest.OneByteReader, "in halves": iotest.HalfReader, "with the error": iotest.DataErrReader,
		} {
			frame, err := transport.ReadFrame(slow(bytes.NewReader(transport.AppendFrame(nil, long))), transport.FrameBytesMax)
			require.NoError(t, err, name)
			require.True(t, bytes.Equal(long, frame), name)
		}
	})
	t.Run("TellsAnEndInsideOne", func(t *testing.T) {
		short := transport.AppendFrame(nil, []byte("hello"))
		for length := 1; length < len(short); length++ {
			_, err := transport.ReadFrame(bytes.NewReader(short[:length]), transport.FrameBytesMax)
			require.Equal(t, io.ErrUnexpectedEOF, err, "%d bytes", length)
		}
	})
	t.Run("NoticesEveryBitThatChanged", func(t *testing.T) {
		short := transport.AppendFrame(nil, []byte("hello"))
		for bit := range len(short) * 8 {
			changed := bytes.Clone(short)
			changed[bit/8] ^= 1 << (bit % 8)
			frame, err := transport.ReadFrame(bytes.NewReader(changed), transport.FrameBytesMax)
			require.Error(t, err, "bit %d: %q", bit, frame)
		}
	})
	t.Run("RefusesALengthAboveTheBound", func(t *testing.T) {
		_, err := transport.ReadFrame(bytes.NewReader(transport.AppendFrame(nil, make([]byte, 101))), 100)
		require.ErrorIs(t, err, transport.ErrFrame)
		require.ErrorContains(t, err, "its length is 101 bytes, at most 100 are allowed")
		_, err = transport.ReadFrame(bytes.NewReader(bytes.Repeat([]byte{0xff}, 8)), transport.FrameBytesMax)
		require.ErrorContains(t, err, "its length is 4294967295 bytes")
	})
	t.Run("TakesNoMemoryForALengthAlone", func(t *testing.T) {
		header := binary.BigEndian.AppendUint32(nil, transport.FrameBytesMax)
		arrived := append(header, make([]byte, 4+100_000)...)
		bytes := allocated(func() {
			_, err := transport.ReadFrame(bytes.NewReader(arrived), transport.FrameBytesMax)
			require.Equal(t, io.ErrUnexpectedEOF, err)
		})
		require.Less(t, bytes, uint64(5*len(arrived)))
	})
	t.Run("GivesTheFrameNoMoreMemoryThanItNeeds", func(t *testing.T) {
		frame, err := transport.ReadFrame(bytes.NewReader(transport.AppendFrame(nil, long)), transport.FrameBytesMax)
		require.NoError(t, err)
		require.Equal(t, len(long), cap(frame))
	})
}

// allocated returns how many bytes f allocates, with those of other goroutines
// meanwhile.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func FuzzFrame(f *testing.F) {
	f.Add(transport.AppendFrame(transport.AppendFrame(nil, []byte("hello")), nil))
	f.Add([]byte{0x04, 0, 0, 0, 1, 2, 3, 4, 5})
	f.Add(bytes.Repeat([]byte{0xff}, 9))
	f.Fuzz(func(t *testing.T, wire []byte) {
		var frames [][]byte
		var err error
		bytes := allocated(func() { frames, err = transport.ReadFrames(wire, transport.FrameBytesMax) })
		require.Error(t, err)
		// The buffer, the first piece of a frame, and what the copies while it
		// grows come to; other goroutines of the fuzzer allocate a little.
		require.Less(t, bytes, uint64(4*len(wire)+1<<20))
		var again []byte
		for _, frame := range frames {
			again = transport.AppendFrame(again, frame)
		}
		require.Equal(t, string(wire[:len(again)]), string(again), "what was taken is what would have been sent")
	})
}
