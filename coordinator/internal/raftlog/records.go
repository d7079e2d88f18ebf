package raftlog

import (
	"encoding/binary"
	"fmt"

	"github.com/lni/dragonboat/v4/raftpb"
)

const statusBytes = 5 * 8

// status is what a replica must remember of itself, and which entries it has:
// those from removed+1 to last.
type status struct {
	raftpb.State
	removed, last uint64
}

func (s status) put(value []byte) {
	for i, n := range [...]uint64{s.Term, s.Vote, s.Commit, s.removed, s.last} {
		binary.BigEndian.PutUint64(value[8*i:], n)
	}
}

func decodeStatus(value []byte) (status, error) {
	if len(value) != statusBytes {
		return status{}, fmt.Errorf("%w: status has %d bytes, want %d", ErrCorrupt, len(value), statusBytes)
	}
	at := func(i int) uint64 { return binary.BigEndian.Uint64(value[8*i:]) }
	s := status{State: raftpb.State{Term: at(0), Vote: at(1), Commit: at(2)}, removed: at(3), last: at(4)}
	if s.removed > s.last || s.Commit > s.last {
		return status{}, fmt.Errorf("%w: status has removed %d, commit %d, last %d", ErrCorrupt, s.removed, s.Commit, s.last)
	}
	return s, nil
}

// decodeEntry reads the entry of an index. It shares no memory with value.
func decodeEntry(index uint64, value []byte) (raftpb.Entry, error) {
	var e raftpb.Entry
	if err := e.Unmarshal(value); err != nil {
		return raftpb.Entry{}, fmt.Errorf("%w: entry %d: %w", ErrCorrupt, index, err)
	}
	// The size is compared because the engine's form allows bytes behind its end.
	if e.Index != index || e.Size() != len(value) {
		return raftpb.Entry{}, fmt.Errorf("%w: entry %d says that it is entry %d of %d bytes, and has %d",
			ErrCorrupt, index, e.Index, e.Size(), len(value))
	}
	return e, nil
}

func decodeSnapshot(value []byte) (raftpb.Snapshot, error) {
	var ss raftpb.Snapshot
	if err := ss.Unmarshal(value); err != nil {
		return raftpb.Snapshot{}, fmt.Errorf("%w: snapshot: %w", ErrCorrupt, err)
	}
	if raftpb.IsEmptySnapshot(ss) {
		return raftpb.Snapshot{}, fmt.Errorf("%w: snapshot without an index", ErrCorrupt)
	}
	return ss, nil
}

func decodeBootstrap(value []byte) (raftpb.Bootstrap, error) {
	var b raftpb.Bootstrap
	if err := b.Unmarshal(value); err != nil {
		return raftpb.Bootstrap{}, fmt.Errorf("%w: bootstrap: %w", ErrCorrupt, err)
	}
	return b, nil
}

func formatValue() []byte {
	return binary.BigEndian.AppendUint16([]byte(storeMagic), storeVersion)
}

// machinesMagic begins the format record of the store of the lock machines,
// which has the same key.
const machinesMagic = "PALISADE"

// describeFormat says what a format record is that is not formatValue.
func describeFormat(value []byte) string {
	if len(value) == formatValueBytes {
		version := binary.BigEndian.Uint16(value[len(storeMagic):])
		switch string(value[:len(storeMagic)]) {
		case storeMagic:
			return fmt.Sprintf("a log store of version %d", version)
		case machinesMagic:
			return fmt.Sprintf("the store of the lock machines, version %d", version)
		}
	}
	return fmt.Sprintf("format record %.64x", value)
}
