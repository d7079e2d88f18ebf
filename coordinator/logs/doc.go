// Package logs writes what happens to the requests and leases of a node to a
// logger of log/slog.
//
//	cfg.Observers = append(cfg.Observers, logs.New(slog.Default(), logs.Options{}))
//
// # Levels
//
// What every acquire does is debug: that it is queued, that it got its lease, gave
// up or was refused, that the lease was released. A node that is busy and well
// writes nothing at info but who leads its groups.
//
//   - warn: a lease was lost; a lost lease was released only then; renewing fails; a
//     group has expired leases of this node; a group did not answer; a queue is full;
//     events could not be logged.
//   - info: renewing works again; a group has another leader; what the closing of
//     the node ends.
//
// # How much
//
// At info and above each kind of line is written Options.LinesPerMinute times a
// minute at most; the first one after that says how many were left out. Debug is
// not limited.
//
// # Attributes
//
// key and keys (how many), request, request_id, token, group, from and to (states),
// took, remaining, ttl, wait (how it ended), outcome, loss, error. A lease's metadata
// and the values of a context are never written.
package logs
