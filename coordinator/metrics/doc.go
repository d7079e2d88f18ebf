// Package metrics counts and times what happens to the requests and leases of a
// node, for Prometheus.
//
//	m := metrics.New()
//	cfg.Observers = append(cfg.Observers, m)
//	c, err := coordinator.Open(ctx, cfg)
//	m.Watch(c)
//	prometheus.MustRegister(m)
//
// # Series
//
// Their number is fixed by the number of groups: no label has a key, a request or
// anything else in it that grows. All names begin with palisade_. Durations are in
// seconds.
//
//	wait_seconds{end}              how long requests waited, by how that ended
//	hold_seconds{end}              how long leases were held, until released or lost
//	release_seconds                from a release to its confirmation
//	remaining_ratio                what was left of the safe window at a release, as a share of the TTL
//	losses_total{reason}           leases lost
//	overruns_total                 leases released by their owner after they were lost
//	overrun_seconds                how long after
//	expiries_total                 leases that a group expired although this process lived
//	renew_failures_total           how often renewing began to fail in a group
//	stale_writes_total             writes that guards refused, as told by Refused
//	commit_seconds                 from a batch's first attempt until it is seen applied
//	apply_seconds                  the last part of it: from when this node began to apply the batch
//	batch_bytes                    sizes of the batches
//	batch_retries_total            attempts to send a batch again
//	leader_changes_total           changes of leader or term, all groups together
//	elections_total                rises of a term, all groups together
//	dropped_events_total           events that were not counted in any of the above
//	schedule_delay_seconds         how late a timer of a second was in this process
//
// and from Status, at the time of the scrape, after Watch:
//
//	requests                       waiting, held or being given back, of this node
//	group_leads{group}             1: this node leads the group
//	group_has_leader{group}        1: a leader is known
//	group_applied{group}           log index
//	group_leases{group}            of all nodes
//	group_waits{group}             of all nodes
//	group_longest_queue{group}     of all keys
//	peer_reached{peer}             1: the last attempt to reach it succeeded
//	disk_free_bytes                for the data directory
//	up                             0: the node had to stop by itself
//
// docs/tuning.md in the repository says what to read from them, docs/prometheus has
// alerts, and docs/grafana a dashboard.
package metrics
