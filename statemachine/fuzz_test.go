package statemachine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FuzzDecodeBatch: no bytes make the decoder panic or give a batch that can't
// be encoded again. What it accepts has one form only, so the bytes come back;
// of a command that it does not know the body is lost, but not its name.
func FuzzDecodeBatch(f *testing.F) {
	for _, b := range sampleBatches() {
		f.Add(encoded(f, b))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := DecodeBatch(data)
		if err != nil {
			require.ErrorIs(t, err, ErrMalformed)
			require.NotContains(t, err.Error(), "panicked")
			return
		}
		again, err := AppendBatch(nil, b)
		require.NoError(t, err)
		known := true
		for _, c := range b.Commands {
			if _, unknown := c.(Unknown); unknown {
				known = false
			}
		}
		if known {
			require.Equal(t, data, again)
		}
		decoded, err := DecodeBatch(again)
		require.NoError(t, err)
		require.Equal(t, b, decoded)
	})
}

// FuzzDecodeRecord: the same for the records of an image.
func FuzzDecodeRecord(f *testing.F) {
	for key, value := range sampleMachine(f).Records() {
		f.Add(key, value)
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		d := newRecordDecoder()
		defer d.close()
		rec, err := d.decode(key, value)
		if err != nil {
			require.NotContains(t, err.Error(), "panicked")
			return
		}
		var again Record
		switch rec.kind {
		case recordMeta:
			again = metaRecord(rec.meta)
		case recordPresence:
			again = presenceRecord(rec.presence)
		case recordLease:
			again = leaseRecord(rec.lease)
		case recordWait:
			again = waitRecord(rec.lease.wait())
		}
		require.Equal(t, Record{Key: key, Value: value}, again)
	})
}

// FuzzCommands turns bytes into batches, four bytes a command, and applies
// them: the invariants hold after each, the events are the model's, and the
// image is whole.
func FuzzCommands(f *testing.F) {
	f.Add([]byte{0x00, 1, 1, 1, 0x10, 1, 2, 1, 0x01, 2, 1, 1})
	f.Add([]byte{0x00, 1, 1, 0x3f, 0x01, 0x81, 1, 0x33, 0x02, 1, 1, 1, 0x03, 0, 0, 0, 0x41, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		m := New(testGenesis)
		plain := newModel()
		image := make(map[string]string)
		keepImage(image, m.TakeChanges())
		numbers := make(map[NodeID]BatchNumber)
		incarnations := map[NodeID]Incarnation{1: 1, 2: 1, 3: 1}
		for index := Index(1); len(data) >= 4 && index < 300; index++ {
			b := fuzzBatch(data[:4], m, numbers, incarnations)
			data = data[4:]
			require.Equal(t, eventText(plain.apply(index, b)), eventText(m.Apply(index, b)))
			require.NoError(t, m.Check())
			keepImage(image, m.TakeChanges())
		}
		require.Equal(t, plain.dump(), dump(t, m))
		require.Equal(t, imageOf(m), image)
		loaded, err := Load(testGenesis, m.Records())
		require.NoError(t, err)
		require.Equal(t, dump(t, m), dump(t, loaded))
	})
}

// fuzzBatch makes a batch of one command: what, by whom, on which seq, with
// which keys.
func fuzzBatch(data []byte, m *Machine, numbers map[NodeID]BatchNumber, incarnations map[NodeID]Incarnation) Batch {
	node := NodeID(1 + data[0]%3)
	seq := Seq(data[2])
	ttl := time.Duration(1 + data[2]%3)
	known, _ := m.Presence(node)
	switch data[1] & 0x0f {
	case 9:
		return Batch{Commands: []Command{Expire{Node: node, Incarnation: known.Incarnation, Last: known.Last, TTL: ttl}}}
	case 10:
		return Batch{Commands: []Command{Sweep{Node: node}}}
	case 11:
		return Batch{Commands: []Command{ExpireLimit{Lease: LeaseID{Node: node, Incarnation: known.Incarnation, Seq: seq}}}}
	case 12:
		incarnations[node]++
		numbers[node] = 0
	}
	numbers[node]++
	b := Batch{Node: node, Incarnation: incarnations[node], Number: numbers[node], Speaks: Binary, Wall: int64(data[0])}
	switch data[1] & 0x0f {
	case 0, 1, 2, 3, 4:
		a := Acquire{Seq: seq, Wait: data[1]&0x80 == 0, TTL: ttl, Limit: time.Duration(data[1] >> 6), QueueMax: uint64(data[1] >> 4 & 0x03)}
		for i := range 8 {
			if data[3]&(1<<i) != 0 {
				a.Claims = append(a.Claims, Claim{Key: string(rune('a' + i)), Mode: Exclusive})
			}
		}
		b.Commands = []Command{a}
	case 5, 6:
		b.Commands = []Command{Release{Seq: seq}}
	case 7:
		b.Commands = []Command{Cancel{Seq: seq}}
	case 8:
		b.Commands = []Command{Leave{}}
	}
	return b
}
