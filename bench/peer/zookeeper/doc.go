// Package zookeeper is Apache ZooKeeper as a peer: three servers of Debian's
// package, with its defaults, which sync every write. The lock is the usual
// recipe, as the Go client has it: an ephemeral node with a number, and a watch
// on the one before. The clients are in the benchmark's process; each worker has
// a session of its own at one of the servers.
package zookeeper
