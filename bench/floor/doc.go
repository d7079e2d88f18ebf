// Package floor measures what no lock can be faster than on a machine: a sync of
// its disk, a round trip over its loopback interface, and a proposal of the bare
// engine.
package floor
