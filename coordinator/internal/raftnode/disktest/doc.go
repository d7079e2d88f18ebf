// Package disktest is a disk for the processes of tests: it ends the process in
// the midst of a change, as a loss of power or the kernel does.
//
// A Disk hands out two file systems, because the engine has its own idea of one:
// that of the stores, which are the Raft log's and the machines', and that of
// the engine's snapshots and marks. Both keep their files with the operating
// system, so that what a process leaves behind is found by the next one.
//
// It makes no errors. The engine does not end the process on an error of a file
// system that is not its own, as it does otherwise; so that would be no test.
// Package kerneltest makes them, where the process meets the kernel.
package disktest
