// Package sqlfence guards what lives in a database, PostgreSQL or SQLite: it
// refuses the write of a paused owner in the transaction that would make it.
//
// # Nouns
//
// A Guard keeps for each resource a fence: the row with the greatest token
// accepted. A resource is a name that the program gives to the rows that one
// lock key protects, one or many, in any tables of the same database. A write
// function makes the write, in the guard's transaction. An operation that took
// effect has a receipt, in a row too.
//
// There is a second pattern, without a guard: a column last_fence in the one
// row that is protected, and a condition in each statement. For that there is
// Wrote.
//
// # Schema
//
// Schema has it as statements, for PostgreSQL and for SQLite. Version 1:
//
//	table               column     type                   content
//	palisade_schema     version    integer                1; the key
//	palisade_fence      resource   text, bytewise         the name; the key
//	                    token      bigint > 0             the greatest accepted
//	palisade_operation  resource   text, bytewise         with operation the key
//	                    operation  text, bytewise         the operation id
//	                    token      bigint > 0             under which it took effect
//	                    value      bytea / blob           what the write function returned
//	                    at         timestamptz / integer  when, by the database's clock;
//	                                                      SQLite: in ms since 1970
//
// # A transaction
//
//	BEGIN
//	  |  lock the fence ------------- busy, 40001, 40P01 --> pause, BEGIN
//	  |  look for the operation ----- known ---------------> raise the fence if lower,
//	  |  compare the tokens --------- lower ------+          COMMIT: the first receipt
//	  |  the write function --------- error ------+-------> ROLLBACK
//	  |  raise the fence, in this     ended by    |
//	  |    very transaction --------- fn ---------+
//	  |  record the operation
//	COMMIT ------------------------- no answer -----------> ErrUnknown
//
// # Invariants
//
//  1. A fence only rises, and it is raised in the transaction of the write.
//  2. While a write function runs, its transaction holds the fence: no other
//     guarded write of the resource is between its check and its commit. A
//     transaction that waits for the fence judges by what it finds then, at
//     every isolation level.
//  3. A write function sees all that the guarded writes before it committed.
//  4. Rows, fence and receipt are committed together or not at all.
//  5. An operation that has a row is not done again.
//  6. Success is returned after the database has confirmed the commit, never
//     otherwise.
//
// # What it does not do
//
// It does not notice writes that bypass it: each statement that changes the
// protected rows has to be in a write function, or have the condition of the
// plain pattern. It does not stop a writer; pass lease.Context() for that. It
// keeps no receipt of a write that failed. It makes no connection, starts no
// goroutine that outlives a call, and reads no clock but the database's.
//
// # What can go wrong
//
// The fence is locked for as long as a write function runs. An owner that is
// paused inside one keeps the next owner waiting, until the database ends its
// session: PostgreSQL's idle_in_transaction_session_timeout. Neither writes
// anything stale. SQLite has one write lock for the whole file and no such
// time limit.
//
// A read from a replica, or of a restored backup, can be older than the fence.
// A database restored from a backup has its old fences, and knows nothing of
// the operations since. Stop the writers, restore, and let each owner Accept
// first.
//
// Errors of the database are told apart by the methods SQLState() string
// (pgx, lib/pq) and Code() int (modernc.org/sqlite). With a driver that has
// neither, nothing is tried again, and every failed commit is ErrUnknown.
//
// docs/fencing/sql.md has both patterns with all of their SQL. Examples that run
// are in drivertest, a module of its own that has the drivers; what it tests
// with is Debian's PostgreSQL 15 and the SQLite 3 of modernc.org/sqlite.
package sqlfence
