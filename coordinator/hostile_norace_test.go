//go:build !race

package coordinator_test

const hostileDefault = 10_000
