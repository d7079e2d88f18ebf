// Package dashboard is a page that shows what the locks do: who holds them, who
// waits, which were lost and why, and whether it is getting worse.
//
//	d := dashboard.New(dashboard.Options{})
//	cfg.Observers = append(cfg.Observers, d)
//	c, err := coordinator.Open(ctx, cfg)
//	d.Watch(c)
//	mux.Handle("/palisade/", http.StripPrefix("/palisade", d))
//
// # What it shows
//
// The groups, leases and queues are those of the whole cluster, as the replicas of
// this node know them: it asks nobody, and so works without a quorum too. Waiting
// times, losses and the hour's trend are those of this node alone, of what it was
// told as an observer. docs/dashboard.md goes through it.
//
// # Who may see it
//
// Everybody who can reach the handler, unless Options.Authorize says otherwise. Keys
// are shown as they are, metadata only if Options.ShowMetadata says so. There is
// nothing that changes anything: no request but GET and HEAD is answered, and there
// is no operator's way to end a lease yet.
//
// # What it costs
//
// Nothing runs while nobody looks, but for the observer, which counts. The memory it
// takes is fixed, whatever the number of keys, leases and events. While somebody
// looks, all leases are gone over once in two seconds at most, whoever and however
// many look, in steps that hold no group up.
//
// # JSON
//
// The same as JSON is under json, a key under json/key?key=…: see View and KeyView.
// Durations are in seconds, and tokens are strings, because JavaScript's numbers
// end at 2^53.
package dashboard
