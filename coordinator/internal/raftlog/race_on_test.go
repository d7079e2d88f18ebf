//go:build race

package raftlog

// sample is how many cases of an exhaustive test make one under the race
// detector, which makes them an order of magnitude slower.
const sample = 7
