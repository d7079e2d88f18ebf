// Package palisade is this library as a peer: three nodes, each in a process of
// its own with the workers that use it, as a service has it. What is not about
// the benchmark is left at its default, but for TLS: no peer has any here.
package palisade
