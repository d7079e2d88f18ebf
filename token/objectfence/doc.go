// Package objectfence guards content in an object store that compares: it
// writes each content under a name of its own and then moves a small pointer to
// it, by a compare-and-set on the pointer's ETag. The check of a fencing token,
// the write it allows and the memory of the operation are that one move.
//
// A Store is anything with conditional requests, as two methods. FileStore keeps
// objects in a directory, for one process or many; HTTPStore talks to a server.
// A Guard belongs to one Store, in which every resource has one pointer and any
// number of versions. A resource belongs to one lock key, for ever: tokens of
// different lock keys do not compare.
//
//	holder             Guard                                          Store
//	  | Do(w, change)    |                                              |
//	  |----------------->| w.Check                                      |
//	  |                  |-- Get pointer -----------------------------> |
//	  |                  | done before? the first receipt               |
//	  |                  | lower token? *token.StaleError               |
//	  |                  |-- Get version -----------------------------> |
//	  |                  | change(old content)                          |
//	  |                  |-- PutIf new version, if absent ------------> |
//	  |                  |-- PutIf pointer, if its ETag is the same --> | the write
//	  |                  |   changed? from the beginning                |
//	  |<-----------------| receipt                                      |
//
// # Invariants
//
//  1. The token in a pointer only rises.
//  2. What a pointer says (content, token, operation) changes in one PutIf, or
//     not at all. A version never changes.
//  3. No update is lost: a change was made of the content that it replaces.
//  4. While an operation is remembered, it takes effect once, and every attempt
//     gets the first receipt, whatever its token.
//  5. The newest Config.OperationsMax operations of a resource are remembered,
//     and no more.
//  6. Content is given to a caller only if its size and its SHA-256 are those
//     that the pointer names.
//  7. A move whose answer was lost is found by its id, and is not made twice;
//     otherwise the error is token.ErrUnknown.
//
// # What it does not do
//
// It deletes nothing. Versions stay when the pointer moves on, and those of
// writers that were slower or failed; Collect says which can go. It does not see
// writes around it. It has no directory of resources, and forgets none: a
// pointer stays. It forgets operations by number and not by age. It splits no
// content: an object is in memory, whole.
//
// # What can go wrong
//
// A server, or a proxy before it, that does not look at If-Match and
// If-None-Match takes every write. Probe finds that; call it at each start. The
// same holds for one that answers a GET from a cache that it does not ask again.
//
// Two lock keys whose owners write one resource defeat the guard, as everywhere.
//
// Somebody who deletes or restores a pointer takes the fence back with it: a
// holder that is stale may pass. Stop the writers, restore, and let each owner
// Accept first. An object store with versions of its own does not help: the pointer is what
// decides.
//
// An answer is lost and 32 other writes come before the guard looks again, or
// the store can't be read then: token.ErrUnknown. The same operation again
// tells.
//
// # Format
//
// Names of objects, with H for the SHA-256 of the resource in hexadecimal:
//
//	H.pointer              what is moved
//	H.version.token.random a content: the token in 16 hexadecimal digits, and 32
//	                       that nobody else has
//	probe                  left by Probe
//
// The pointer is JSON in UTF-8, spelled as Go's encoding/json does with two
// spaces for each level, without escaping of <, > and &, and with a newline at
// its end. Any other spelling, unknown field or missing field is refused. It is
// fixed by the files under testdata/golden.
//
//	field        content                                     left out
//	format       1                                           never
//	resource     the name                                    never
//	token        text form, the greatest accepted            never
//	version      name, bytes, sha256 (hexadecimal)           before the first write
//	operations   the oldest first: id, token, value          if there are none
//	             (base64, left out if empty)
//	moves        up to 32 ids of 32 hexadecimal digits, the  never
//	             newest last; each made one state of this
//	             pointer
package objectfence
