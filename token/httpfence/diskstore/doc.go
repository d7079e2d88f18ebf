// Package diskstore is the httpfence.Store that survives a restart: fences and
// operations in a directory of their own, in pebble.
//
// # Format
//
// A key begins with its kind. A name that other bytes follow comes after its
// length, so that no two pairs of names make one key. Numbers are big endian.
//
//	key                                          value
//	00                                           "PALHTTPF", version (2 bytes)
//	01 resource                                  fence
//	02 length (2) resource operation-id          record
//	03 length (2) resource number (8)            operation-id
//
//	fence     highest (8)  first (8)  next (8)  checksum (4)
//	record    number (8)  token (8)  fingerprint (32)  state (1)  rest  checksum (4)
//
//	state 0   begun: no rest
//	state 1   answered: status (2)  fields  fields  body (to the end)
//	state 2   answered, not kept: status (2)
//	fields    of the header, then of the trailer: count (4), then each name with
//	          each of its values: length (4) name, length (4) value, in the order
//	          of the names
//
// The operations of a resource are numbered in the order of their beginning,
// from 1. Those from first on and below next are remembered, unless they were
// forgotten one by one; the number of the last, if it was, is given again. The
// checksum is CRC-32C over key and value. The format never changes under one
// version; a later version reads this one.
//
// # Invariants
//
//  1. A Save is one synced batch: after a crash all of it is there or nothing,
//     and all if it has returned nil.
//  2. A fence never falls.
//  3. A record and the key of its number are there together, or neither.
//  4. Of a resource at most Config.OperationsMax operations are remembered. What
//     happens to one resource makes no other forget.
//  5. A record that is not what was written is ErrDamaged, never a guess: a
//     fence that is guessed lets a paused writer in.
//  6. After a Save that failed the store fails for good: what can be read then
//     need not be on disk.
//
// # What this package does not do
//
// It does not share: the directory is locked for one process. It forgets no
// fence. It bounds what a resource takes, not how many resources there are; that
// is Config.Resource's to bound.
//
// When a disk fails under the engine's own work, in its background, the engine
// can't go on and ends the process with a panic that names the directory. The
// next Open finds all that Save has returned nil for.
package diskstore
