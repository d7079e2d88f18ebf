package workload

import "time"

// Metric names a number that is measured.
type Metric struct {
	Name string
	Unit string
	// More says that more is better.
	More bool
}

// The metrics of all workloads.
var (
	PairsPerSecond     = Metric{"pairs/s", "1/s", true}
	ProposalsPerSecond = Metric{"proposals/s", "1/s", true}
	AcquireP50         = Metric{"acquire p50", "ms", false}
	AcquireP99         = Metric{"acquire p99", "ms", false}
	AcquireP999        = Metric{"acquire p99.9", "ms", false}
	ReleaseP50         = Metric{"release p50", "ms", false}
	ReleaseP99         = Metric{"release p99", "ms", false}
	ReleaseP999        = Metric{"release p99.9", "ms", false}
	MostTurns          = Metric{"most turns", "", false}
	FewestTurns        = Metric{"fewest turns", "", true}

	ToNextGrant      = Metric{"to next grant", "ms", false}
	ToNextGrantByTTL = Metric{"to next grant / T", "", false}

	CPU = Metric{"CPU", "% of a core", false}

	SyncsPerPair = Metric{"syncs/pair", "", false}
	BytesPerPair = Metric{"bytes/pair", "B", false}

	HeapPerLease     = Metric{"heap/lease and replica", "B", false}
	HeapReplica      = Metric{"of that the replica", "B", false}
	HeapHolder       = Metric{"heap/lease at its holder", "B", false}
	Renewals         = Metric{"log entries/s at rest", "1/s", false}
	FillPerSecond    = Metric{"leases taken/s", "1/s", true}
	StartUp          = Metric{"start-up", "ms", false}
	StartUpOpen      = Metric{"of that opening", "ms", false}
	StartUpCPU       = Metric{"CPU of it, all members", "ms", false}
	LeasesFound      = Metric{"leases found at start", "", true}
	HeapPerWaiter    = Metric{"heap/waiter and replica", "B", false}
	HeapWaiterNode   = Metric{"heap/waiter at its node", "B", false}
	StacksWaiterNode = Metric{"stack/waiter at its node", "B", false}

	SyncP50      = Metric{"fdatasync p50", "ms", false}
	SyncP99      = Metric{"fdatasync p99", "ms", false}
	RoundTripP50 = Metric{"round trip p50", "ms", false}
	RoundTripP99 = Metric{"round trip p99", "ms", false}
)

// Metrics are all of them, in the order of a table.
var Metrics = []Metric{
	PairsPerSecond, ProposalsPerSecond, AcquireP50, AcquireP99, AcquireP999, ReleaseP50, ReleaseP99, ReleaseP999, MostTurns, FewestTurns,
	ToNextGrant, ToNextGrantByTTL, CPU, SyncsPerPair, BytesPerPair,
	HeapPerLease, HeapReplica, HeapHolder, Renewals, FillPerSecond, StartUp, StartUpOpen, StartUpCPU, LeasesFound,
	HeapPerWaiter, HeapWaiterNode, StacksWaiterNode,
	SyncP50, SyncP99, RoundTripP50, RoundTripP99,
}

// Values are what a workload has measured, by the metric's name.
type Values map[string]float64

// set notes a number.
func (v Values) set(m Metric, value float64) { v[m.Name] = value }

// setTime notes a duration, in milliseconds.
func (v Values) setTime(m Metric, d time.Duration) { v.set(m, Milliseconds(d)) }

// Milliseconds is a duration in the unit of all metrics of time.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
