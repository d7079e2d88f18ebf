//go:build !race

package transport_test

// hostileDefault takes about ten seconds on two cores.
const hostileDefault = 10_000
