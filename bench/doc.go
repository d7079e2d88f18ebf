// Command bench measures this library side by side with others that give out
// locks, and says what the machine itself takes. Its result is a table, JSON and
// charts.
//
//	go run . -peers all
//
// runs three rounds of everything in about a quarter of an hour on two cores.
// -only chooses workloads, -peers the peers; with -page it writes the tables and
// charts into docs/benchmarks.md.
//
// A round opens one peer after the other, each with empty directories on the
// same disk, and puts it through all workloads; then comes the next round. So
// what slows the machine down for a while slows down all peers, and ratios are
// those of the same round. Only one peer runs at a time.
//
// It installs nothing. A peer that is not there is skipped and named, with what
// would install it. It runs on Linux only.
package main
