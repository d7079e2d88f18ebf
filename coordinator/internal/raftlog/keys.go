package raftlog

import (
	"encoding/binary"
	"fmt"
)

// Part of the format; never renumber.
const (
	spaceFormat  byte = 0x00
	spaceReplica byte = 0x01

	kindBootstrap byte = 0x01
	kindStatus    byte = 0x02
	kindSnapshot  byte = 0x03
	kindEntry     byte = 0x04
)

// Part of the format; never change.
const (
	storeMagic       = "PALRAFTL"
	storeVersion     = 1
	formatValueBytes = len(storeMagic) + 2

	prefixBytes   = 1 + 8 + 8
	keyBytes      = prefixBytes + 1
	entryKeyBytes = keyBytes + 8
)

// replicaID names one replica of one group.
type replicaID struct{ group, replica uint64 }

func (id replicaID) String() string {
	return fmt.Sprintf("group %d replica %d", id.group, id.replica)
}

// putPrefix writes what the keys of the replica begin with to key.
func putPrefix(key []byte, id replicaID) {
	key[0] = spaceReplica
	binary.BigEndian.PutUint64(key[1:], id.group)
	binary.BigEndian.PutUint64(key[9:], id.replica)
}

func putKey(key []byte, id replicaID, kind byte) {
	putPrefix(key, id)
	key[prefixBytes] = kind
}

func putEntryKey(key []byte, id replicaID, index uint64) {
	putKey(key, id, kindEntry)
	binary.BigEndian.PutUint64(key[keyBytes:], index)
}

// keyOf returns the replica's key of a kind that has one record.
func keyOf(id replicaID, kind byte) []byte {
	key := make([]byte, keyBytes)
	putKey(key, id, kind)
	return key
}

func entryKey(id replicaID, index uint64) []byte {
	key := make([]byte, entryKeyBytes)
	putEntryKey(key, id, index)
	return key
}

// span returns the range of all keys of the replica, without its upper end.
func span(id replicaID) (lower, upper []byte) {
	lower = make([]byte, prefixBytes)
	putPrefix(lower, id)
	return lower, successor(lower)
}

// successor returns the smallest key that is greater than every key that begins
// with prefix. The first byte of a prefix is a space, never 0xff, so there is one.
func successor(prefix []byte) []byte {
	next := append([]byte(nil), prefix...)
	for i := len(next) - 1; ; i-- {
		next[i]++
		if next[i] != 0 {
			return next[:i+1]
		}
	}
}

// parsePrefix reads the replica out of a key of it.
func parsePrefix(key []byte) (replicaID, error) {
	if len(key) < keyBytes || key[0] != spaceReplica {
		return replicaID{}, fmt.Errorf("%w: key %x belongs to no replica", ErrCorrupt, key)
	}
	return replicaID{
		group:   binary.BigEndian.Uint64(key[1:]),
		replica: binary.BigEndian.Uint64(key[9:]),
	}, nil
}

// parseEntryKey reads the index out of the key of an entry.
func parseEntryKey(key []byte) (uint64, error) {
	if len(key) != entryKeyBytes || key[prefixBytes] != kindEntry {
		return 0, fmt.Errorf("%w: key %x is not one of an entry", ErrCorrupt, key)
	}
	return binary.BigEndian.Uint64(key[keyBytes:]), nil
}
