// Package pebblestore keeps the images of a node's lock machines on disk.
//
// A store is one pebble database for the machines of all groups. An image is
// the set of records (key and value, opaque here) that one replica's machine
// had after some command of its log; it is named by group, replica and image
// number. The apply loop commits the records that a command changed; the Raft
// log is the write-ahead log, so nothing is synced until Flush.
//
// # Invariants
//
//  1. What survives a crash is a prefix of the commits, in the order in which
//     they returned, and it holds every commit that had returned when the last
//     successful Flush was called. A commit is there whole or not at all. (The
//     engine's own log is off; its memtables reach the disk in order, one
//     synced manifest edit at a time, and no batch spans two of them.)
//  2. A replica has at most one image that is named. Only the named one is ever
//     read. A record names an image in the same batch as its first commit, or
//     after the whole of a recovered stream was verified.
//  3. An image number is never used twice while the store is open, and what an
//     unnamed number holds is deleted by the next Open.
//  4. A replica that was removed stays removed: its mark is never deleted.
//
// # What it does not do
//
// It does not read records, does not retry, and does not outlive a failing
// disk. The first failure of a background write is final: every later Commit
// and Flush returns it, and the process is expected to end. Where the engine no
// longer knows what is on disk, or a writer would wait for ever, the store ends
// the process itself, by a panic with an error. It does not protect from two
// stores on one directory that reach it through different mounts.
//
// # Keys
//
// The number in a box is its length in bytes. Integers are big-endian, so that
// keys sort by kind, group, replica, image. The formats, here and below, are
// fixed by the files under testdata/golden.
//
//	Store format, first key of the store. Written before anything else.
//	+------+          +---------------------+-------------+
//	| 0x00 |    ->    | magic "PALISADE" 8  | version 2   |
//	+------+          +---------------------+-------------+
//
//	Name: which image of the replica is the current one.
//	+------+---------+-----------+          +----------------+
//	| 0x01 | group 8 | replica 8 |    ->    | image number 8 |
//	+------+---------+-----------+          +----------------+
//
//	Removed: the replica was removed from this node, for good.
//	+------+---------+-----------+
//	| 0x02 | group 8 | replica 8 |    ->    (empty)
//	+------+---------+-----------+
//
//	Record of an image.
//	+------+---------+-----------+----------------+------------+          +--------------+
//	| 0x03 | group 8 | replica 8 | image number 8 | record key |    ->    | record value |
//	+------+---------+-----------+----------------+------------+          +--------------+
//
// # Stream
//
// The form in which an image travels to another replica. Records come in
// strictly rising order of their keys. Nothing follows the trailer.
//
//	Header
//	+--------------------+-----------+
//	| magic "PALIMAGE" 8 | version 2 |
//	+--------------------+-----------+
//
//	Record, any number of them
//	+------+--------------+----------------+-----+-------+
//	| 0x01 | key length 2 | value length 4 | key | value |
//	+------+--------------+----------------+-----+-------+
//
//	Trailer
//	+------+-----------+-------------+
//	| 0x00 | records 8 | checksum 4  |
//	+------+-----------+-------------+
//
// The checksum is the CRC-32C of every byte before it, header included. A reader
// looks at the version before anything that follows, and trusts no record before
// the checksum was verified.
//
// # Concurrency
//
// All methods are safe for concurrent use. Commit, Recover and Remove of one
// image exclude one another; images of different replicas do not wait for each
// other.
package pebblestore
