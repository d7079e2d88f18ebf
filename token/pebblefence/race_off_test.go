//go:build !race

package pebblefence

// sample: everything that is to be tried is.
const sample = 1
