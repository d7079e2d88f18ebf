package raftlog

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/lni/dragonboat/v4/raftpb"
	"github.com/stretchr/testify/require"
)

// What a decoder accepts is what was written: it comes back as the same bytes.
// Maps are written in any order, so records with maps come back as the same
// record.

func FuzzDecodeStatus(f *testing.F) {
	f.Add(statusValue(8, 2, 10))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, value []byte) {
		s, err := decodeStatus(value)
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			return
		}
		again := make([]byte, statusBytes)
		s.put(again)
		require.Equal(t, value, again)
		require.LessOrEqual(t, s.removed, s.last)
		require.LessOrEqual(t, s.Commit, s.last)
	})
}

func FuzzDecodeEntry(f *testing.F) {
	full := raftpb.Entry{Term: 1 << 50, Index: 2, Type: 1, Key: 3, ClientID: 4, SeriesID: 5, RespondedTo: 6, Cmd: []byte("command")}
	f.Add(uint64(2), marshal(f, &full))
	f.Add(uint64(1), marshal(f, &entries(1, 1, 1)[0]))
	f.Add(uint64(0), []byte{0x7f})
	f.Add(uint64(0), []byte{7, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}) // a command of terabytes
	f.Fuzz(func(t *testing.T, index uint64, value []byte) {
		before := bytes.Clone(value)
		e, err := decodeEntry(index, value)
		require.Equal(t, before, value)
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			return
		}
		require.Equal(t, index, e.Index)
		require.LessOrEqual(t, len(e.Cmd), len(value))
		for i := range value {
			value[i] = 0 // pebble's memory, which it uses again
		}
		require.True(t, equalEntries(e, mustDecode(t, index, before)), "it shares memory with the value")
	})
}

func mustDecode(t *testing.T, index uint64, value []byte) raftpb.Entry {
	e, err := decodeEntry(index, value)
	require.NoError(t, err)
	return e
}

func FuzzDecodeSnapshot(f *testing.F) {
	ss := snapshotAt(7, 2)
	ss.Files = []*raftpb.SnapshotFile{{Filepath: "file", FileSize: 3, FileId: 4, Metadata: []byte{5}}}
	ss.Membership.Removed = map[uint64]bool{3: true}
	f.Add(marshal(f, &ss))
	f.Fuzz(func(t *testing.T, value []byte) {
		ss, err := decodeSnapshot(value)
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			return
		}
		again, err := decodeSnapshot(marshal(t, &ss))
		require.NoError(t, err)
		require.Equal(t, ss.Index, again.Index)
		require.Equal(t, ss.Membership.ConfigChangeId, again.Membership.ConfigChangeId)
		require.Equal(t, len(ss.Membership.Addresses), len(again.Membership.Addresses))
	})
}

func FuzzDecodeBootstrap(f *testing.F) {
	f.Add(marshal(f, &raftpb.Bootstrap{Addresses: map[uint64]string{1: "a"}, Join: true, Type: raftpb.OnDiskStateMachine}))
	f.Fuzz(func(t *testing.T, value []byte) {
		b, err := decodeBootstrap(value)
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			return
		}
		again, err := decodeBootstrap(marshal(t, &b))
		require.NoError(t, err)
		require.Equal(t, b, again)
	})
}

func FuzzParseKeys(f *testing.F) {
	f.Add(entryKey(replicaID{1, 2}, 3))
	f.Add(keyOf(replicaID{1, 2}, kindStatus))
	f.Fuzz(func(t *testing.T, key []byte) {
		id, err := parsePrefix(key)
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			return
		}
		lower, upper := span(id)
		require.GreaterOrEqual(t, bytes.Compare(key, lower), 0)
		require.Negative(t, bytes.Compare(key, upper))
		index, err := parseEntryKey(key)
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			return
		}
		require.Equal(t, key, entryKey(id, index))
		require.Equal(t, index, binary.BigEndian.Uint64(key[len(key)-8:]))
	})
}
