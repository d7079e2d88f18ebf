//go:build race

package pebblefence

// sample is how much slower the race detector, and what the engine checks under
// it, make a test: of what is tried for every operation, one in so many is.
const sample = 10
