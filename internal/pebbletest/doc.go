// Package pebbletest is how the stores on pebble are tested against their disk: a
// Camera pictures what a loss of power may leave at any moment, and a Fault fails
// the Nth operation on a file.
package pebbletest
