package report

import (
	"fmt"

	"github.com/palisade-go/palisade/bench/measure"
	"github.com/palisade-go/palisade/bench/workload"
)

// place is a number among the results.
type place struct {
	workload, peer string
	metric         workload.Metric
}

// target is something that the library is to reach: a number, or its ratio to
// another one of the same run.
type target struct {
	text  string
	value place
	by    place // zero: the value itself
	limit float64
	// atLeast: the limit is a lower one.
	atLeast bool
	// leases is how many a cluster must have held for it. Default: any number.
	leases int
}

const palisade = "palisade"

// serial is a metric of a single worker's pairs, and rate the pairs of others.
func serial(peer string, m workload.Metric) place { return place{"own-1", peer, m} }
func rate(name, peer string) place                { return place{name, peer, workload.PairsPerSecond} }

// fullLoad is how many leases the targets of size are about.
const fullLoad = 1_000_000

// targets are those of the project.
var targets = []target{
	{text: "acquire, 1 worker, p50 / a bare proposal", value: serial(palisade, workload.AcquireP50), by: serial("engine", workload.AcquireP50), limit: 1.3},
	{text: "acquire, 1 worker, p50 / etcd's", value: serial(palisade, workload.AcquireP50), by: serial("etcd", workload.AcquireP50), limit: 0.75},
	{text: "own keys, 16 workers: pairs / etcd's", value: rate("own-16", palisade), by: rate("own-16", "etcd"), limit: 2, atLeast: true},
	{text: "own keys, 256 workers: pairs / etcd's", value: rate("own-256", palisade), by: rate("own-256", "etcd"), limit: 10, atLeast: true},
	{text: "own keys, 256 workers: pairs / Redis's", value: rate("own-256", palisade), by: rate("own-256", "redis"), limit: 1, atLeast: true},
	{text: "one key, 16 workers: hand-overs / bare proposals of one proposer", value: rate("one-16", palisade), by: serial("engine", workload.ProposalsPerSecond), limit: 0.8, atLeast: true},
	{text: "one key, 16 workers: hand-overs / etcd's", value: rate("one-16", palisade), by: rate("one-16", "etcd"), limit: 5, atLeast: true},
	{text: "one key: cost of a hand-over, 256 workers / 16 workers", value: rate("one-16", palisade), by: rate("one-256", palisade), limit: 1.3},
	{text: "log entries at rest, 1,000,000 leases / 3,000", value: place{"leases", palisade, workload.Renewals}, by: place{"renewing", palisade, workload.Renewals}, limit: 1.1, leases: fullLoad},
	{text: "bytes of heap per lease and replica, 1,000,000 leases", value: place{"leases", palisade, workload.HeapPerLease}, limit: 600, leases: fullLoad},
	{text: "idle, 8 groups, three nodes: % of a core", value: place{"idle-8", palisade, workload.CPU}, limit: 3},
	{text: "idle, 64 groups, three nodes: % of a core", value: place{"idle-64", palisade, workload.CPU}, limit: 12},
	{text: "start with 1,000,000 leases: ms", value: place{"leases", palisade, workload.StartUp}, limit: 10_000, leases: fullLoad},
}

// The outcomes of a Verdict.
const (
	Met       = "met"
	Missed    = "missed"
	Undecided = "undecided" // some rounds say this, some that
	Unknown   = "not measured"
)

// Verdict is what a run says about a target.
type Verdict struct {
	Target  string         `json:"target"`
	Limit   float64        `json:"limit"`
	AtLeast bool           `json:"atLeast,omitempty"`
	Got     measure.Spread `json:"got"`
	Outcome string         `json:"outcome"`
}

// Judge compares the results with the project's targets. leases is how many a
// loaded cluster had.
func (r *Results) Judge(leases int) {
	r.Verdicts = nil
	for _, t := range targets {
		v := Verdict{Target: t.text, Limit: t.limit, AtLeast: t.atLeast, Outcome: Unknown}
		if leases >= t.leases {
			v.Got = r.reached(t)
			v.Outcome = outcome(t, v.Got)
		}
		r.Verdicts = append(r.Verdicts, v)
	}
}

func (r *Results) reached(t target) measure.Spread {
	value := r.Rounds(t.value.workload, t.value.peer, t.value.metric.Name)
	if t.by == (place{}) {
		return r.Spread(t.value.workload, t.value.peer, t.value.metric.Name)
	}
	return measure.RatioOf(value, r.Rounds(t.by.workload, t.by.peer, t.by.metric.Name))
}

// outcome decides when all rounds agree.
func outcome(t target, got measure.Spread) string {
	if got.Rounds == 0 {
		return Unknown
	}
	good := func(value float64) bool { return value <= t.limit && !t.atLeast || value >= t.limit && t.atLeast }
	switch least, most := good(got.Least), good(got.Most); {
	case least && most:
		return Met
	case !least && !most:
		return Missed
	default:
		return Undecided
	}
}

// relation is the limit in words.
func (v Verdict) relation() string {
	if v.AtLeast {
		return fmt.Sprintf("at least %s", number(v.Limit))
	}
	return fmt.Sprintf("at most %s", number(v.Limit))
}
