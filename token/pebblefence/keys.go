package pebblefence

import (
	"bytes"
	"encoding/binary"

	"github.com/palisade-go/palisade/token"
)

// The first byte after the prefix. Part of the format; never renumber.
const (
	kindFormat    byte = 0x00
	kindGuard     byte = 0x01
	kindFence     byte = 0x02
	kindOperation byte = 0x03
	kindNumber    byte = 0x04
)

// keyspace makes the keys of one prefix. Names come after their lengths, so
// that no two pairs of names make one key.
type keyspace struct {
	prefix []byte
	// end is the smallest key above all that begin with prefix, nil if there is
	// none.
	end []byte
}

func newKeyspace(prefix []byte) keyspace {
	return keyspace{prefix: bytes.Clone(prefix), end: successor(prefix)}
}

// successor returns the smallest key that is greater than every key that begins
// with prefix, nil if the prefix has no other byte than 0xff.
func successor(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xff {
			next := bytes.Clone(prefix[:i+1])
			next[i]++
			return next
		}
	}
	return nil
}

// holds says whether the key is one of the prefix.
func (k keyspace) holds(key []byte) bool { return bytes.HasPrefix(key, k.prefix) }

// meets says whether a key of the prefix can be at least start and below end.
func (k keyspace) meets(start, end []byte) bool {
	return (k.end == nil || bytes.Compare(start, k.end) < 0) && bytes.Compare(end, k.prefix) > 0
}

func (k keyspace) key(kind byte, more int) []byte {
	key := make([]byte, 0, len(k.prefix)+1+more)
	return append(append(key, k.prefix...), kind)
}

func (k keyspace) format() []byte { return k.key(kindFormat, 0) }
func (k keyspace) guard() []byte  { return k.key(kindGuard, 0) }

func (k keyspace) of(kind byte, resource string, more int) []byte {
	key := k.key(kind, 2+len(resource)+more)
	key = binary.BigEndian.AppendUint16(key, uint16(len(resource))) // at most token.ResourceBytesMax
	return append(key, resource...)
}

func (k keyspace) fence(resource string) []byte { return k.of(kindFence, resource, 0) }

func (k keyspace) operation(resource string, id token.Operation) []byte {
	return append(k.of(kindOperation, resource, len(id)), id...)
}

func (k keyspace) number(resource string, number uint64) []byte {
	return binary.BigEndian.AppendUint64(k.of(kindNumber, resource, 8), number)
}
