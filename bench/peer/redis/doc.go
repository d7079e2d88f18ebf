// Package redis is Redis as a peer, for orientation: a single server of Debian's
// package that syncs every write (appendfsync always), and redsync over that one
// server, with a connection for each worker. It replicates nothing, gives no
// fencing token, and who waits asks again after 50 to 250 ms, redsync's default,
// instead of standing in line.
package redis
