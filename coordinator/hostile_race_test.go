//go:build race

package coordinator_test

// hostileDefault is less than without the race detector, which makes a TLS
// handshake about ten times as long.
const hostileDefault = 1_000
