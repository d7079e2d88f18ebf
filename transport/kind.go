package transport

import (
	"fmt"
	"slices"
)

// Kind says what a link carries. One link carries one kind, so that a long
// snapshot can't stand in the way of messages.
type Kind uint8

// The kinds. The numbers are part of the wire format; never renumber.
const (
	Messages Kind = 1 // Raft messages, many and small
	Chunks   Kind = 2 // parts of snapshots, few and large
)

// String returns the kind's name, or its number when it has none.
func (k Kind) String() string {
	switch k {
	case Messages:
		return "messages"
	case Chunks:
		return "chunks"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Valid says whether k is one of the kinds.
func (k Kind) Valid() bool { return slices.Contains(kinds[:], k) }

// kinds are all there are.
var kinds = [...]Kind{Messages, Chunks}

// protocol returns the name that ALPN knows the kind by. It is part of the
// wire format; the number at its end is that of the form of hellos, answers
// and frames.
func (k Kind) protocol() string { return "palisade-" + k.String() + "/1" }

// protocols returns those of all kinds.
func protocols() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.protocol())
	}
	return names
}
