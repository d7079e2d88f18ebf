package pebblestore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"testing"
	"testing/iotest"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
)

func TestStreamFormat(t *testing.T) {
	s := openAt(t, vfs.NewMem())
	image := imageOf(t, s, 1, 1)
	fillSmallImage(t, image)

	t.Run("IsPinnedByteForByte", func(t *testing.T) {
		golden(t, "stream-v1.bin", stream(t, image))
	})
	t.Run("OldStreamsAreReadForEver", func(t *testing.T) {
		old, err := os.ReadFile(goldenPath("stream-v1.bin"))
		require.NoError(t, err)
		other := imageOf(t, s, 2, 1)
		require.NoError(t, other.Recover(bytes.NewReader(old), nil))
		require.Equal(t, smallImage, contents(t, other))
	})
	t.Run("IsWhatTheDocumentationDraws", func(t *testing.T) {
		var want []byte
		want = append(want, "PALIMAGE\x00\x01"...)
		want = append(want, "\x01\x00\x00\x00\x00\x00\x0dthe empty key"...)
		want = append(want, "\x01\x00\x01\x00\x00\x00\x00a"...)
		want = append(want, "\x01\x00\x01\x00\x00\x00\x01b2"...)
		want = append(want, "\x01\x00\x02\x00\x00\x00\x03\xff\x00\x00\x01\x02"...)
		want = append(want, "\x00\x00\x00\x00\x00\x00\x00\x00\x04"...)
		want = binary.BigEndian.AppendUint32(want, crc32.Checksum(want, crc32.MakeTable(crc32.Castagnoli)))
		require.Equal(t, want, stream(t, image))
	})
	t.Run("AnEmptyImageHasOne", func(t *testing.T) {
		empty := stream(t, imageOf(t, s, 9, 9))
		require.Len(t, empty, streamHeaderBytes+1+countBytes+checksumBytes)
		other := imageOf(t, s, 3, 1)
		commit(t, other, set("a", "1"))
		require.NoError(t, other.Recover(bytes.NewReader(empty), nil))
		require.True(t, other.Empty())
	})
}

func TestRecoverRefusesBadStreams(t *testing.T) {
	s := openAt(t, vfs.NewMem())
	source, target := imageOf(t, s, 1, 1), imageOf(t, s, 1, 2)
	fillSmallImage(t, source)
	good := stream(t, source)
	before := map[string]string{"mine": "kept"}
	commit(t, target, set("mine", "kept"))

	// refused checks that the stream changes nothing, and leaves nothing.
	refused := func(t *testing.T, r io.Reader, is error) error {
		t.Helper()
		keys := rawKeys(t, s)
		err := target.Recover(r, nil)
		require.ErrorIs(t, err, is)
		require.Equal(t, before, contents(t, target))
		require.Equal(t, keys, rawKeys(t, s), "a refused stream left keys behind")
		return err
	}
	resum := func(data []byte) []byte {
		data = bytes.Clone(data)
		body := data[:len(data)-checksumBytes]
		binary.BigEndian.PutUint32(data[len(body):], crc32.Checksum(body, castagnoli))
		return data
	}

	t.Run("WithAnyByteDamaged", func(t *testing.T) {
		for at := range good {
			for _, mask := range []byte{0x01, 0x80, 0xff} {
				bad := bytes.Clone(good)
				bad[at] ^= mask
				is := ErrCorrupt
				if at == len(streamMagic) || at == len(streamMagic)+1 {
					is = ErrFormat
				}
				refused(t, bytes.NewReader(bad), is)
			}
		}
	})
	t.Run("CutAtAnyByte", func(t *testing.T) {
		for n := range good {
			refused(t, bytes.NewReader(good[:n]), ErrCorrupt)
			refused(t, iotest.DataErrReader(bytes.NewReader(good[:n])), ErrCorrupt)
		}
	})
	t.Run("WithAnyByteDroppedOrDoubled", func(t *testing.T) {
		for at := range good {
			dropped := append(bytes.Clone(good[:at]), good[at+1:]...)
			doubled := append(bytes.Clone(good[:at+1]), good[at:]...)
			for _, bad := range [][]byte{dropped, doubled} {
				if !bytes.Equal(bad, good) {
					err := target.Recover(bytes.NewReader(bad), nil)
					require.True(t, errors.Is(err, ErrCorrupt) || errors.Is(err, ErrFormat), "byte %d: %v", at, err)
					require.Equal(t, before, contents(t, target))
				}
			}
		}
	})
	t.Run("WithBytesAfterTheTrailer", func(t *testing.T) {
		refused(t, bytes.NewReader(append(bytes.Clone(good), 0)), ErrCorrupt)
		refused(t, bytes.NewReader(append(bytes.Clone(good), good...)), ErrCorrupt)
	})
	t.Run("OfALaterVersion", func(t *testing.T) {
		bad := bytes.Clone(good)
		bad[len(streamMagic)+1] = streamVersion + 1
		err := refused(t, bytes.NewReader(resum(bad)), ErrFormat)
		require.ErrorContains(t, err, "version 2")
		require.ErrorContains(t, err, "version 1")
		// The version is looked at before what follows, whatever that is.
		refused(t, bytes.NewReader(bad[:streamHeaderBytes]), ErrFormat)
	})
	t.Run("WithTheChecksumRightButTheCountWrong", func(t *testing.T) {
		bad := bytes.Clone(good)
		bad[len(bad)-checksumBytes-1]++
		err := refused(t, bytes.NewReader(resum(bad)), ErrCorrupt)
		require.ErrorContains(t, err, "says 5 records and has 4")
	})
	t.Run("WithTheChecksumRightButKeysOutOfOrder", func(t *testing.T) {
		for _, keys := range [][2]string{{"b", "a"}, {"a", "a"}} {
			var out bytes.Buffer
			w, err := newStreamWriter(&out)
			require.NoError(t, err)
			require.NoError(t, w.record([]byte(keys[0]), nil))
			require.NoError(t, w.record([]byte(keys[1]), nil))
			require.NoError(t, w.trailer())
			require.ErrorContains(t, refused(t, &out, ErrCorrupt), "order")
		}
	})
	t.Run("WithLengthsBeyondTheLimits", func(t *testing.T) {
		for name, head := range map[string][]byte{
			"key":   {tagRecord, 0x10, 0x01, 0, 0, 0, 0},
			"value": {tagRecord, 0x00, 0x01, 0x00, 0x40, 0x00, 0x01},
			"huge":  {tagRecord, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		} {
			bad := append(bytes.Clone(good[:streamHeaderBytes]), head...)
			// The reader would fail on the read that follows an allocation.
			r := io.MultiReader(bytes.NewReader(bad), iotest.ErrReader(errors.New("it read on")))
			require.ErrorContains(t, refused(t, r, ErrCorrupt), "limits", name)
		}
	})
	t.Run("ThatCanNotBeRead", func(t *testing.T) {
		broken := errors.New("the link is gone")
		for _, n := range []int{0, 5, streamHeaderBytes, 30, len(good) - 1, len(good)} {
			r := io.MultiReader(bytes.NewReader(good[:n]), iotest.ErrReader(broken))
			err := refused(t, r, broken)
			require.NotErrorIs(t, err, ErrCorrupt)
		}
	})
	t.Run("AndTakesTheGoodOneInAnyPieces", func(t *testing.T) {
		for name, r := range map[string]io.Reader{
			"one byte at a time":     iotest.OneByteReader(bytes.NewReader(good)),
			"the end with the data":  iotest.DataErrReader(bytes.NewReader(good)),
			"half of what was asked": iotest.HalfReader(bytes.NewReader(good)),
		} {
			require.NoError(t, target.Recover(r, nil), name)
			require.Equal(t, smallImage, contents(t, target), name)
		}
	})
}

func FuzzRecoverNeverMixesImages(f *testing.F) {
	mem := vfs.NewMem()
	s, err := Open(testDir, Options{FS: mem})
	require.NoError(f, err)
	defer s.Close()
	old, err := os.ReadFile(goldenPath("stream-v1.bin"))
	require.NoError(f, err)
	f.Add(old)
	f.Add(old[:len(old)-1])
	f.Add([]byte(streamMagic))
	image, err := s.Image(1, 1)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, data []byte) {
		commit(t, image, set("mine", "kept"))
		before := contents(t, image)
		if err := image.Recover(bytes.NewReader(data), nil); err != nil {
			require.True(t, errors.Is(err, ErrCorrupt) || errors.Is(err, ErrFormat), "%v", err)
			require.Equal(t, before, contents(t, image))
			return
		}
		require.Equal(t, data, stream(t, image), "an accepted stream is the one form of its image")
	})
}
