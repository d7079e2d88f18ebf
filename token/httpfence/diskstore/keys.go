package diskstore

import (
	"encoding/binary"

	"github.com/palisade-go/palisade/token"
)

// The first byte of a key. Part of the format; never renumber.
const (
	kindFormat    byte = 0x00
	kindFence     byte = 0x01
	kindOperation byte = 0x02
	kindNumber    byte = 0x03
)

func formatKey() []byte { return []byte{kindFormat} }

func fenceKey(resource string) []byte { return append([]byte{kindFence}, resource...) }

// framed begins a key with a resource that other bytes follow. The length fits:
// a resource has at most token.ResourceBytesMax bytes.
func framed(kind byte, resource string) []byte {
	key := binary.BigEndian.AppendUint16([]byte{kind}, uint16(len(resource)))
	return append(key, resource...)
}

func operationKey(resource string, operation token.Operation) []byte {
	return append(framed(kindOperation, resource), operation...)
}

func numberKey(resource string, number uint64) []byte {
	return binary.BigEndian.AppendUint64(framed(kindNumber, resource), number)
}
