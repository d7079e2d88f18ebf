// Package etcd is etcd as a peer: three embedded members, each in a process of
// its own, with etcd's defaults, which sync every write. The clients are in the
// benchmark's process: three, each connected to one member, and each worker has
// a session of its own, which concurrency.Mutex wants.
package etcd
