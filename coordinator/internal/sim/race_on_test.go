//go:build race

package sim

// raced says that the race detector slows everything down.
const raced = true
