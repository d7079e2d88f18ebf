package admission

import "github.com/palisade-go/palisade/transport"

// The codes with which a node refuses another, besides those of package
// transport. Part of the wire format; never renumber.
const (
	// CodeDirectory: this peer came with another directory before.
	CodeDirectory transport.Code = 257
	// CodeOlder: this directory was met after a later start: it is an older
	// copy.
	CodeOlder transport.Code = 258
	// CodeCopy: another process runs from a copy of this directory.
	CodeCopy transport.Code = 259
	// CodeAddress: at a node's address there is another one.
	CodeAddress transport.Code = 260
	// CodeStranger: the node is not a member.
	CodeStranger transport.Code = 261
	// CodeStorage: what was met could not be written.
	CodeStorage transport.Code = 262
	// CodeFailed: the node that refuses was itself refused for ever.
	CodeFailed transport.Code = 263
)

// final reports whether a peer's refusal with this code is for ever: two
// directories or starts can't speak for one node.
func final(code transport.Code) bool {
	return code == CodeDirectory || code == CodeOlder || code == CodeCopy
}
