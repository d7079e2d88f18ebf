package pebblestore

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
)

// writerFunc is called with what is written.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// recovered returns what the stream holds, by way of another replica.
func recovered(t *testing.T, s *Store, data []byte) map[string]string {
	t.Helper()
	image := imageOf(t, s, 77, 77)
	require.NoError(t, image.Recover(bytes.NewReader(data), nil))
	return contents(t, image)
}

func TestSnapshot(t *testing.T) {
	t.Run("IsTheStateAtPrepareWhileCommitsGoOn", func(t *testing.T) {
		s := openAt(t, vfs.NewMem())
		image := imageOf(t, s, 1, 1)
		// More than the writer's buffer, so that commits fall between writes.
		want := map[string]string{}
		for n := range 2000 {
			key, value := fmt.Sprintf("key-%04d", n), fmt.Sprintf("%0200d", n)
			commit(t, image, set(key, value))
			want[key] = value
		}
		sn := image.Prepare()
		defer sn.Close()
		commit(t, image, set("key-0000", "changed before the first byte"))

		var out bytes.Buffer
		writes := 0
		require.NoError(t, sn.WriteTo(writerFunc(func(p []byte) (int, error) {
			// A Commit that waited for the snapshot would hang here.
			commit(t, image, set(fmt.Sprintf("key-%04d", writes), "changed"), del(fmt.Sprintf("key-%04d", 1999-writes)), set("new", "new"))
			if writes == 1 {
				require.NoError(t, s.Flush())
			}
			writes++
			return out.Write(p)
		}), nil))
		require.Greater(t, writes, 3)
		require.Equal(t, want, recovered(t, s, out.Bytes()))
		require.Equal(t, "changed", contents(t, image)["key-0000"])
	})
	t.Run("IsTheStateAtPrepareWhileAWriterRuns", func(t *testing.T) {
		s := openAt(t, vfs.NewMem())
		image := imageOf(t, s, 1, 1)
		commit(t, image, set("x", "0"), set("y", "0"))
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for n := 1; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				value := []byte(fmt.Sprint(n))
				records := []statemachine.Record{{Key: []byte("x"), Value: value}, {Key: []byte("y"), Value: value}}
				if err := image.Commit(records); err != nil {
					panic(err)
				}
			}
		}()
		for range 200 {
			got := recovered(t, s, stream(t, image))
			require.Equal(t, got["x"], got["y"], "a snapshot has half of a commit")
		}
		close(stop)
		<-stopped
	})
	t.Run("OutlivesTheRecoverAndTheRemovalOfItsImage", func(t *testing.T) {
		s := openAt(t, vfs.NewMem())
		image, other := imageOf(t, s, 1, 1), imageOf(t, s, 1, 2)
		commit(t, image, set("a", "1"))
		commit(t, other, set("b", "2"))
		first := image.Prepare()
		defer first.Close()
		require.NoError(t, image.Recover(bytes.NewReader(stream(t, other)), nil))
		second := image.Prepare()
		defer second.Close()
		require.NoError(t, image.Remove())
		require.NoError(t, s.Flush())
		for sn, want := range map[*Snapshot]map[string]string{first: {"a": "1"}, second: {"b": "2"}} {
			for range 2 { // it may be written twice
				var out bytes.Buffer
				require.NoError(t, sn.WriteTo(&out, nil))
				require.Equal(t, want, recovered(t, s, out.Bytes()))
			}
		}
		gone := image.Prepare()
		defer gone.Close()
		require.ErrorIs(t, gone.WriteTo(nil, nil), ErrRemoved)
	})
	t.Run("StopsWhenToldTo", func(t *testing.T) {
		s := openAt(t, vfs.NewMem())
		image := imageOf(t, s, 1, 1)
		for n := range 3000 {
			commit(t, image, set(fmt.Sprintf("key-%04d", n), fmt.Sprintf("%0100d", n)))
		}
		sn := image.Prepare()
		defer sn.Close()
		stop := make(chan struct{})
		writes := 0
		err := sn.WriteTo(writerFunc(func(p []byte) (int, error) {
			if writes == 0 {
				close(stop)
			}
			writes++
			return len(p), nil
		}), stop)
		require.ErrorIs(t, err, ErrStopped)
		require.Equal(t, 1, writes)
		require.ErrorIs(t, sn.WriteTo(nil, stop), ErrStopped)
	})
	t.Run("PassesTheErrorOfItsWriterOn", func(t *testing.T) {
		s := openAt(t, vfs.NewMem())
		image := imageOf(t, s, 1, 1)
		for n := range 2000 {
			commit(t, image, set(fmt.Sprintf("key-%04d", n), fmt.Sprintf("%0100d", n)))
		}
		sn := image.Prepare()
		defer sn.Close()
		broken := errors.New("the peer has gone")
		for fail := range 4 {
			writes := 0
			err := sn.WriteTo(writerFunc(func(p []byte) (int, error) {
				if writes == fail {
					return 0, broken
				}
				writes++
				return len(p), nil
			}), nil)
			require.ErrorIs(t, err, broken)
		}
	})
	t.Run("CloseIsIdempotentAndEndsTheSnapshot", func(t *testing.T) {
		s := openAt(t, vfs.NewMem())
		image := imageOf(t, s, 1, 1)
		commit(t, image, set("a", "1"))
		sn := image.Prepare()
		sn.Close()
		sn.Close()
		require.ErrorIs(t, sn.WriteTo(nil, nil), ErrClosed)
		require.Empty(t, s.mu.snapshots)
	})
	t.Run("IsCutShortByTheCloseOfTheStore", func(t *testing.T) {
		s, err := Open(testDir, Options{FS: vfs.NewMem()})
		require.NoError(t, err)
		image := imageOf(t, s, 1, 1)
		for n := range 2000 {
			commit(t, image, set(fmt.Sprintf("key-%04d", n), fmt.Sprintf("%0100d", n)))
		}
		sn := image.Prepare()
		closed := make(chan error, 1)
		err = sn.WriteTo(writerFunc(func(p []byte) (int, error) {
			if len(closed) == 0 && cap(closed) == 1 {
				go func(c chan error) { c <- s.Close() }(closed)
				<-s.gate.closing
			}
			return len(p), nil
		}), nil)
		require.ErrorIs(t, err, ErrClosed)
		require.NoError(t, <-closed)
		sn.Close()
	})
}
