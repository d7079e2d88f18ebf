package pebblestore

import (
	"encoding/binary"
	"fmt"
)

// The first byte of every key. Part of the format; never renumber.
const (
	kindFormat  byte = 0x00
	kindName    byte = 0x01
	kindRemoved byte = 0x02
	kindRecord  byte = 0x03
)

// Part of the format; never change.
const (
	storeMagic         = "PALISADE"
	storeVersion       = 1
	replicaKeyBytes    = 1 + 8 + 8
	imagePrefixBytes   = replicaKeyBytes + 8
	formatValueBytes   = len(storeMagic) + 2
	imageNumberBytes   = 8
	firstImage         = uint64(1)
	unnamed            = uint64(0) // the number of a replica that has no image
	engineFormatMarker = "format-version"
)

// replicaID names one replica of one group.
type replicaID struct{ group, replica uint64 }

func (id replicaID) String() string {
	return fmt.Sprintf("group %d replica %d", id.group, id.replica)
}

// replicaKey returns the key of kind that belongs to the replica. For
// kindRecord it is the prefix of all its images.
func replicaKey(kind byte, id replicaID) []byte {
	key := make([]byte, 0, imagePrefixBytes)
	key = append(key, kind)
	key = binary.BigEndian.AppendUint64(key, id.group)
	return binary.BigEndian.AppendUint64(key, id.replica)
}

// imagePrefix returns what the keys of all records of the image begin with.
func imagePrefix(id replicaID, number uint64) []byte {
	return binary.BigEndian.AppendUint64(replicaKey(kindRecord, id), number)
}

// parseReplicaKey reads the replica out of a key of any kind but kindFormat.
func parseReplicaKey(key []byte) (replicaID, error) {
	if len(key) < replicaKeyBytes {
		return replicaID{}, fmt.Errorf("%w: key %x is shorter than %d bytes", ErrCorrupt, key, replicaKeyBytes)
	}
	return replicaID{
		group:   binary.BigEndian.Uint64(key[1:]),
		replica: binary.BigEndian.Uint64(key[9:]),
	}, nil
}

// parseImagePrefix reads replica and image number out of a record's key.
func parseImagePrefix(key []byte) (replicaID, uint64, error) {
	if len(key) < imagePrefixBytes {
		return replicaID{}, 0, fmt.Errorf("%w: key %x is shorter than %d bytes", ErrCorrupt, key, imagePrefixBytes)
	}
	id, err := parseReplicaKey(key)
	return id, binary.BigEndian.Uint64(key[replicaKeyBytes:]), err
}

// successor returns the smallest key that is greater than every key that begins
// with prefix. The first byte of a prefix is a kind, never 0xff, so there is one.
func successor(prefix []byte) []byte {
	next := append([]byte(nil), prefix...)
	for i := len(next) - 1; ; i-- {
		next[i]++
		if next[i] != 0 {
			return next[:i+1]
		}
	}
}

func formatValue(version uint16) []byte {
	return binary.BigEndian.AppendUint16([]byte(storeMagic), version)
}

// checkFormatValue returns nil for the format this code writes.
func checkFormatValue(value []byte) error {
	if len(value) != formatValueBytes || string(value[:len(storeMagic)]) != storeMagic {
		return fmt.Errorf("%w: format record %x is not one of a store of version %d", ErrFormat, value, storeVersion)
	}
	if version := binary.BigEndian.Uint16(value[len(storeMagic):]); version != storeVersion {
		return fmt.Errorf("%w: the store has version %d, this binary knows version %d", ErrFormat, version, storeVersion)
	}
	return nil
}

func nameValue(number uint64) []byte {
	return binary.BigEndian.AppendUint64(nil, number)
}

func parseNameValue(id replicaID, value []byte) (uint64, error) {
	if len(value) != imageNumberBytes {
		return 0, fmt.Errorf("%w: name of %s has %d bytes, want %d", ErrCorrupt, id, len(value), imageNumberBytes)
	}
	number := binary.BigEndian.Uint64(value)
	if number < firstImage {
		return 0, fmt.Errorf("%w: name of %s is image %d, the first is %d", ErrCorrupt, id, number, firstImage)
	}
	return number, nil
}
