//go:build !race

package pebblestore

// sample: everything that is to be tried is.
const sample = 1
