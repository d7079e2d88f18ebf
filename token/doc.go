// Package token holds fencing tokens and the in-memory guard that checks them.
//
// A token is the number of a grant. A process that was paused can wake up
// after its lease has ended and still try to write; no lock can stop it. The
// resource can: it remembers the greatest token it has seen and refuses a
// write that comes with a lower one.
//
// # Layout
//
// A token is one unsigned number of 63 bits. Bit 63 is zero, so that it fits a
// signed BIGINT column.
//
//	bit   63  62        53 52                                    0
//	    +----+------------+---------------------------------------+
//	    |  0 |   epoch    |                counter                |
//	    +----+------------+---------------------------------------+
//	       1    10 bits                   53 bits
//
// The counter rises with every grant of a group, from 1 on. Whoever founds a
// cluster anew for resources that remember tokens gives it a later epoch: its
// tokens are greater than all of the epochs before.
//
// # Forms
//
//	form    bytes   content                              zero (none)
//	text    1..19   decimal digits, no leading zero      "0", not by Parse
//	JSON    3..21   the text in quotes; also read: the   "0" or 0
//	                same digits as a number
//	binary  8       big endian, so that the order of     eight zero bytes
//	                the bytes is the order of tokens
//	SQL     -       BIGINT (int64); also read: uint64,   0
//	                and the text as string or []byte
//
// Every form is strict: a token has the spellings named here and no others,
// what can't be written can't be read, and a reader that returns an error
// leaves its target as it was.
//
// # Rules
//
//  1. Zero means none. It is never issued, and no guard accepts it.
//  2. For one lock key tokens only rise. The later of two grants has the
//     greater token; compare with <.
//  3. Tokens of different lock keys do not compare. A guard, or a column that
//     serves as one, belongs to one pair of resource and lock key.
//  4. A lease keeps its token to its end, through renewals and leader changes.
//     So a guard accepts a token that equals the greatest it has seen.
//  5. The check and the write it allows are one step. If they are two, a
//     paused writer can stand between them.
//  6. What a guard has accepted it keeps, even when the write then failed: a
//     failed write may have been done in part. Only where a failed write leaves
//     nothing, as in a transaction, does the token go with it.
//  7. A token says whose turn it is, an operation id what is done. A guard that
//     remembers operations looks for the operation first: if it took effect
//     before, nothing is written and the first receipt is returned, whatever
//     the token. To call such an attempt stale would say of something done that
//     it was not.
//  8. A repeated operation raises the greatest token like any other write: a
//     later owner has been here.
//  9. An owner that reads before it writes has its token accepted before it
//     reads. Otherwise the owner before it can still write in between, and what
//     was read is old.
//  10. Nothing wraps. Past the last counter or epoch there is an error.
//
// # What this package does not do
//
// It issues no tokens (the lock machine does), and a Guard remembers nothing
// past the end of its process, and no operations. What outlives the process
// must keep the greatest token next to what the token protects, and compare it
// in the same transaction: the packages below this one do, for databases,
// services and object stores. All of them take a Write and give a Receipt.
//
// A Token is a plain value. A Guard is safe for concurrent use. The package
// imports the standard library only and starts no goroutine.
package token
