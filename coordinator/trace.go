package coordinator

import (
	"strings"

	"github.com/palisade-go/palisade/statemachine"
)

// TraceBytesMax is the length of the longest trace that travels with a lease. A
// longer one is left out.
const TraceBytesMax = 128

// To a group the trace is a part of the metadata, which it keeps and shows and
// never looks into:
//
//	0x00 | length of the trace, one byte | trace | metadata of the caller
//
// Metadata without a trace that does not begin with 0x00 stays as it is.
const (
	packedMark = 0x00
	packedHead = 2
)

// pack puts a trace before metadata. A trace for which there is no room is left
// out: the caller's metadata comes first.
func pack(trace, metadata string) string {
	if len(trace) > TraceBytesMax || packedHead+len(trace)+len(metadata) > statemachine.MetadataBytesMax {
		trace = ""
	}
	if trace == "" && !looksPacked(metadata) {
		return metadata
	}
	return string([]byte{packedMark, byte(len(trace))}) + trace + metadata
}

// unpack undoes pack. What pack can't have made is metadata.
func unpack(packed string) (trace, metadata string) {
	if !looksPacked(packed) || len(packed) < packedHead || packedHead+int(packed[1]) > len(packed) {
		return "", packed
	}
	rest := packed[packedHead:]
	return rest[:packed[1]], rest[packed[1]:]
}

func looksPacked(metadata string) bool { return strings.HasPrefix(metadata, string(rune(packedMark))) }

// metadataMax returns how long the metadata may be.
func metadataMax(metadata string) int {
	if looksPacked(metadata) {
		return statemachine.MetadataBytesMax - packedHead
	}
	return statemachine.MetadataBytesMax
}
