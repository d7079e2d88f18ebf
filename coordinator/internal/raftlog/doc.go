// Package raftlog is the Raft engine's log store: it keeps what the replicas of
// a node must not forget, all of them in one pebble database with one write-ahead
// log.
//
// A replica is named by its group and its number. Of each, the store has the
// entries of its log, its hard state (term, vote and how far it knows the log to
// be committed), the metadata of its last snapshot, and how it was bootstrapped.
//
// # Invariants
//
//  1. What a call has acknowledged is on disk, and calls that returned are
//     there in their order: after a crash there is a prefix of all batches, and
//     it has at least every batch that was synced. One call is one batch. The
//     exceptions to "acknowledged is on disk" are an update that moves nothing
//     but the commit index, and RemoveEntriesTo.
//  2. removed <= last, and the replica has exactly the entries from removed+1
//     to last. Both numbers are a record; nothing is inferred by a scan. An entry
//     that is written over ends the log: what came after it goes in the same
//     batch.
//  3. snapshot <= commit <= last. Saving a snapshot at i also raises the commit
//     index to i, in the same batch.
//  4. The term of a replica never goes back, but for ImportSnapshot.
//
// What would break one of them is refused with ErrBroken before anything is
// written. The engine ends the process then, as it does for every error of its
// log store.
//
// # Why the commit index need not be synced
//
// Raft calls it volatile: a replica that has forgotten it learns it again from a
// leader, or by leading. What it must never do is to get ahead of the log, and it
// can't: entries are always synced, and the order of batches is kept. What the
// engine asks at a start is snapshot <= commit <= last, which is invariant 3, and
// that the first entry that it reads follows the snapshot.
//
// The machine on disk may then have applied more than the log says is
// committed. It may also with the engine's own log store, because the engine
// applies entries before it saves the commit index that covers them. It hands
// them to the machine again when they are committed again, and skips those that
// the machine said it has. Such an entry is on this disk: the engine applies none
// that is not yet saved. No message of the engine promises a commit index either:
// those that promise something (that entries are here, that a vote was given) are
// sent after the batch with those was synced.
//
// # Why removing entries need not be synced
//
// The entries up to i are removed after a snapshot at i or later was synced. If
// they come back, they are covered by that snapshot, and the engine does not look
// at them.
//
// # Keys
//
// The number in a box is its length in bytes. Integers are big-endian, so that
// keys sort by group, replica, kind, index. The formats are fixed by the files
// under testdata/golden.
//
//	Store format, first key of the store. Written, synced, before anything else.
//	+------+          +---------------------+-----------+
//	| 0x00 |    ->    | magic "PALRAFTL" 8  | version 2 |
//	+------+          +---------------------+-----------+
//
//	Bootstrap: the replica is here, and how it was started.
//	+------+---------+-----------+------+          +------------------+
//	| 0x01 | group 8 | replica 8 | 0x01 |    ->    | raftpb.Bootstrap |
//	+------+---------+-----------+------+          +------------------+
//
//	Status: the hard state, and which entries there are.
//	+------+---------+-----------+------+          +--------+--------+----------+-----------+--------+
//	| 0x01 | group 8 | replica 8 | 0x02 |    ->    | term 8 | vote 8 | commit 8 | removed 8 | last 8 |
//	+------+---------+-----------+------+          +--------+--------+----------+-----------+--------+
//
//	Snapshot: the metadata of the last one.
//	+------+---------+-----------+------+          +-----------------+
//	| 0x01 | group 8 | replica 8 | 0x03 |    ->    | raftpb.Snapshot |
//	+------+---------+-----------+------+          +-----------------+
//
//	Entry of the log.
//	+------+---------+-----------+------+---------+          +--------------+
//	| 0x01 | group 8 | replica 8 | 0x04 | index 8 |    ->    | raftpb.Entry |
//	+------+---------+-----------+------+---------+          +--------------+
//
// The types of raftpb are in the form in which the engine marshals them. Pebble
// has a checksum over each block and each record of its log; beyond that, every
// value is checked when it is read, and an error names the record.
//
// # Errors of the disk
//
// The first failed write or sync is final: every later call that writes returns
// it, also when the disk seems to be well again, because nobody knows what the
// system did with what it failed to write. The same holds for a failure of
// pebble's flushes and compactions, which pebble alone would try again for ever.
// The engine turns the error into a panic. Where pebble itself no longer knows
// what is on disk, or a writer would wait for ever, the store panics, with an
// error that names its directory.
//
// # Concurrency
//
// All methods are safe for concurrent use, as the engine uses them: a replica is
// written by one step worker at a time, and a snapshot worker may come between.
// Workers share the syncs of the write-ahead log: the batches that came while one
// sync ran are covered by the next.
package raftlog
