// Package postgres is PostgreSQL as a peer, for orientation: a single server of
// Debian's package and its advisory locks, which belong to a connection. They
// are in the server's memory alone: no lock is written to a disk or replicated,
// and none has a fencing token. Each worker has a connection of its own.
package postgres
