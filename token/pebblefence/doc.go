// Package pebblefence guards data in a pebble database: the check of a fencing
// token, the write it allows and the memory of the operation are one commit.
//
// A Guard belongs to one database and one prefix of its keys. Under the prefix
// it keeps, for each resource, a fence (the greatest token accepted) and the
// operations that took effect last, with their receipts. A resource belongs to
// one lock key, for ever: tokens of different lock keys do not compare. Its data
// is whatever the writes to it write, anywhere outside of the prefix.
//
//	holder              Guard                                       database
//	  |  Do(w, write)     |                                             |
//	  |------------------>| w.Check, the resource's turn                |
//	  |                   | read fence and operation -----------------> |
//	  |                   | done before? the first receipt              |
//	  |                   | lower token? *token.StaleError              |
//	  |                   | write(batch): the caller's keys             |
//	  |                   | batch: + fence + operation                  |
//	  |                   | commit, synced ---------------------------> |
//	  |<------------------| receipt                                     |
//
// # Invariants
//
//  1. A resource's fence only rises.
//  2. Data, fence and operation of a write are on disk together or not at all,
//     and together before Do returns nil.
//  3. What a write function that failed, panicked or left by runtime.Goexit put
//     into its batch is not written, nor its token accepted; the operation may
//     be tried again.
//  4. While an operation is remembered, it takes effect once, and every attempt
//     gets the first receipt, whatever its token.
//  5. The newest Config.OperationsMax operations of a resource are remembered,
//     and no more, but after that number was lowered: then each write forgets up
//     to 1000 that are too many.
//  6. No batch that touches a key under the prefix is committed by a write.
//
// # What it does not do
//
// It does not see writes that are not made through it. It does not forget a
// resource: a fence takes its name and some 30 bytes for as long as the database
// lives. It forgets operations by number and not by age, as no clock decides
// anything here. Whoever retries an operation that was forgotten does it again,
// if the token is not stale. It opens and closes no database: as with any other
// user of it, all calls must have returned before DB.Close is called; later ones
// get pebble.ErrClosed.
//
// # What can go wrong
//
// Two Guards at once for one database and prefix do not exclude one another.
// The earlier one is refused with ErrReplaced before each write once New of the
// later one has written its id, but a commit that has passed that check is not
// stopped. Make one Guard when the database is opened. (A list of all Guards in
// the process was rejected: it would keep databases alive that were dropped
// without a word.) Guards with prefixes of which one begins with the other
// destroy each other's records.
//
// When the engine can't write its log it calls Fatalf of the database's Logger.
// The default one ends the process: then the next start tells, from the
// operation id. If Fatalf panics, the panic passes through Do. If it returns, Do
// returns token.ErrUnknown. In both cases the Guard returns ErrFailed from then
// on: the engine goes on to show what is perhaps not on disk, and an operation
// found there must not be reported as done. Without space in memory, as while
// the disk refuses its tables, the engine holds writers back for as long as that
// lasts.
//
// The engine shows a commit to readers of the database before it is on disk. Who
// reads around the guard may see a write that a crash then takes back.
//
// A database restored from a backup has its old fences: a holder that is stale
// may pass. Stop the writers, restore, and let each owner Accept first.
//
// # Format
//
// Every key begins with the prefix, which the tables leave out. The number in a
// box is its length in bytes; integers are big-endian. It is fixed by the files
// under testdata/golden. Every sum is the CRC-32C of the key, without the
// prefix, and of what stands before the sum.
//
//	Format. Written by the first New.
//	+------+          +---------------------+-----------+
//	| 0x00 |    ->    | magic "PALFENCE" 8  | version 2 |
//	+------+          +---------------------+-----------+
//
//	Guard: which New was the last.
//	+------+          +------------------+
//	| 0x01 |    ->    | random number 16 |
//	+------+          +------------------+
//
//	Fence of a resource. Operations from first on and below next are remembered.
//	+------+----------+----------+          +---------+---------+--------+-------+
//	| 0x02 | length 2 | resource |    ->    | token 8 | first 8 | next 8 | sum 4 |
//	+------+----------+----------+          +---------+---------+--------+-------+
//
//	Operation that took effect.
//	+------+----------+----------+--------------+          +----------+---------+-------+-------+
//	| 0x03 | length 2 | resource | operation id |    ->    | number 8 | token 8 | value | sum 4 |
//	+------+----------+----------+--------------+          +----------+---------+-------+-------+
//
//	Number of an operation, by which the oldest is found.
//	+------+----------+----------+----------+          +--------------+-------+
//	| 0x04 | length 2 | resource | number 8 |    ->    | operation id | sum 4 |
//	+------+----------+----------+----------+          +--------------+-------+
package pebblefence
