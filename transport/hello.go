package transport

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Hello is what a node says of itself at the start of a connection, before
// anything else passes.
type Hello struct {
	// Cluster is the hash of what the cluster was born with. A node with
	// another one is refused.
	Cluster [32]byte
	// Node is the node's number, above zero. Over TLS it is the one that the
	// certificate names, or the node is refused.
	Node uint64
	// Directory is the random id of the node's data directory. The transport
	// carries it, and Incarnation and Start, for Admit.
	Directory [16]byte
	// Incarnation says which start of that directory this is, above zero.
	Incarnation uint64
	// Start is the random id of this start of the process, not all zero. Two
	// that run from copies of one directory may have the same Incarnation,
	// never the same Start.
	Start [16]byte
	// Protocol is what the node speaks inside of frames. Two nodes that have
	// no version in common refuse one another.
	Protocol Versions
	// Born is what Cluster is the hash of, in at most BornBytesMax bytes of
	// the caller's own form. The transport carries it unread, so that who is
	// refused with CodeCluster, or refuses, can say what differs. It may be
	// left empty.
	Born string
}

// BornBytesMax is how long Born may be.
const BornBytesMax = 2048

// Versions is a range of protocol versions, both ends included.
type Versions struct{ Lowest, Highest uint16 }

// agree returns the greatest version of both ranges.
func (v Versions) agree(other Versions) (version uint16, ok bool) {
	version = min(v.Highest, other.Highest)
	return version, version >= max(v.Lowest, other.Lowest)
}

// check returns what is wrong with a hello, the own or another's.
func (h Hello) check() error {
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if h.Cluster == [32]byte{} {
		wrong("Cluster is all zero")
	}
	if h.Node == 0 {
		wrong("Node is zero")
	}
	if h.Directory == [16]byte{} {
		wrong("Directory is all zero")
	}
	if h.Incarnation == 0 {
		wrong("Incarnation is zero")
	}
	if h.Start == [16]byte{} {
		wrong("Start is all zero")
	}
	if v := h.Protocol; v.Lowest == 0 || v.Lowest > v.Highest {
		wrong("Protocol is %d to %d: must be a range above zero", v.Lowest, v.Highest)
	}
	if len(h.Born) > BornBytesMax {
		wrong("Born has %d bytes, at most %d are allowed", len(h.Born), BornBytesMax)
	}
	return errors.Join(problems...)
}

// The wire form of a hello; see the package comment. Part of the format; never
// renumber.
const (
	helloSign     = 0x01    // the first byte, which tells a hello from an answer
	helloForm     = 0x01    // the second byte
	helloBytesMin = 2 + 84  // without fields
	helloBytesMax = 4096    // with all fields
	fieldFrom     = 0x0001  // the dialler's own address
	fieldBorn     = 0x0002  // what the cluster is the hash of
	fieldCritical = 1 << 15 // set in a tag: refuse if unknown
	fromBytesMax  = 512     // of the address
)

// errHello says that what came is not a hello.
var errHello = errors.New("not a hello")

// appendHello appends the wire form. An empty from, that of an acceptor, is
// left out.
func appendHello(to []byte, h Hello, from string) []byte {
	to = append(to, helloSign, helloForm)
	to = append(to, h.Cluster[:]...)
	to = binary.BigEndian.AppendUint64(to, h.Node)
	to = append(to, h.Directory[:]...)
	to = binary.BigEndian.AppendUint64(to, h.Incarnation)
	to = append(to, h.Start[:]...)
	to = binary.BigEndian.AppendUint16(to, h.Protocol.Lowest)
	to = binary.BigEndian.AppendUint16(to, h.Protocol.Highest)
	to = appendField(to, fieldFrom, from)
	return appendField(to, fieldBorn, h.Born)
}

// appendField appends a field, unless its value is empty.
func appendField(to []byte, tag uint16, value string) []byte {
	if value == "" {
		return to
	}
	to = binary.BigEndian.AppendUint16(to, tag)
	to = binary.BigEndian.AppendUint16(to, uint16(len(value)))
	return append(to, value...)
}

// parseHello reads the wire form of a hello and the address in it, if any. It
// takes nothing that appendHello would not have made, except for fields that
// are not known here.
func parseHello(wire []byte) (h Hello, from string, err error) {
	switch {
	case len(wire) > helloBytesMax:
		return Hello{}, "", fmt.Errorf("%w: %d bytes, at most %d are allowed", errHello, len(wire), helloBytesMax)
	case len(wire) < 2 || wire[0] != helloSign:
		return Hello{}, "", fmt.Errorf("%w: it does not begin like one", errHello)
	case wire[1] != helloForm:
		return Hello{}, "", fmt.Errorf("%w: it has form %d, known is %d", errHello, wire[1], helloForm)
	case len(wire) < helloBytesMin:
		return Hello{}, "", fmt.Errorf("%w: %d bytes, it has at least %d", errHello, len(wire), helloBytesMin)
	}
	wire = wire[2:]
	wire = wire[copy(h.Cluster[:], wire):]
	h.Node, wire = binary.BigEndian.Uint64(wire), wire[8:]
	wire = wire[copy(h.Directory[:], wire):]
	h.Incarnation, wire = binary.BigEndian.Uint64(wire), wire[8:]
	wire = wire[copy(h.Start[:], wire):]
	h.Protocol.Lowest, wire = binary.BigEndian.Uint16(wire), wire[2:]
	h.Protocol.Highest, wire = binary.BigEndian.Uint16(wire), wire[2:]
	from, h.Born, err = parseFields(wire)
	if err == nil {
		err = h.check()
	}
	if err != nil {
		return Hello{}, "", fmt.Errorf("%w: %w", errHello, err)
	}
	return h, from, nil
}

// parseFields reads what stands behind the fixed part of a hello.
func parseFields(wire []byte) (from, born string, err error) {
	for last := -1; len(wire) > 0; {
		if len(wire) < 4 {
			return "", "", fmt.Errorf("%d bytes behind the last field", len(wire))
		}
		tag, length := binary.BigEndian.Uint16(wire), int(binary.BigEndian.Uint16(wire[2:]))
		wire = wire[4:]
		switch {
		case int(tag) <= last:
			return "", "", fmt.Errorf("field %#04x comes behind field %#04x", tag, last)
		case length > len(wire):
			return "", "", fmt.Errorf("field %#04x has %d bytes, %d are there", tag, length, len(wire))
		case length == 0 && (tag == fieldFrom || tag == fieldBorn):
			return "", "", fmt.Errorf("field %#04x is empty, it must be left out then", tag)
		case tag == fieldFrom:
			from = string(wire[:length])
			if length > fromBytesMax || !utf8.ValidString(from) {
				return "", "", fmt.Errorf("the address has %d bytes and must be UTF-8 of 1 to %d", length, fromBytesMax)
			}
		case tag == fieldBorn:
			born = string(wire[:length])
		case tag&fieldCritical != 0:
			return "", "", fmt.Errorf("field %#04x must be understood and is not known", tag)
		}
		last, wire = int(tag), wire[length:]
	}
	return from, born, nil
}
