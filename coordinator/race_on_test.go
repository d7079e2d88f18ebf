//go:build race

package coordinator

// sample is how much slower the race detector makes a test: of a large number
// of keys it takes one in so many.
const sample = 10
