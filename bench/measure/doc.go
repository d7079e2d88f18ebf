// Package measure holds what a benchmark counts: latencies in a Histogram, and
// the Spread of a number over the rounds of a run.
//
// Nothing here looks at a clock.
package measure
